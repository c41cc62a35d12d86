package outbound_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// hostile lists hosts that lead to internal addresses, in every spelling that some resolver or library accepts.
var hostile = []string{
	// loopback
	"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0.0.0.0", "0", "2130706433", "017700000001", "0x7f000001",
	"0x7f.1", "0X7F.0x0.0x0.0x1",
	"0177.0.0.1", "0177.0.0.01", "00000177.1", "127.0.0.1.", "127.00.00.01", "localhost", "LOCALHOST", "localhost.",
	"api.localhost", "４２.localhost",
	"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[0000::0001]",
	"１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1",
	// link-local and metadata
	"169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.16689662", "[::ffff:169.254.169.254]",
	"[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%25lo]", "[fe80::1%lo]", "%31%32%37.0.0.1", "127.0.0.1\u00ad",
	"[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200", "168.63.129.16", "192.0.0.192",
	// private, CGNAT, ULA, site-local
	"10.0.0.1", "10.255.255.255", "0xa.1", "012.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "0xc0a80001",
	"3232235521", "100.64.0.1", "100.127.255.254",
	"[fc00::1]", "[fd12:3456:789a::1]", "[fec0::1]", "[::ffff:10.0.0.1]", "[::ffff:c0a8:1]",
	// translated and tunnelled
	"[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2002:a00:1::1]",
	"[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "192.88.99.1",
	// special
	"0.1.2.3", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250",
	"240.0.0.1", "255.255.255.255",
	"[ff02::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]", "256.256.256.256", "0x1ffffffff", "4294967296",
}

func TestNoSpellingOfAnInsideAddressIsAccepted(t *testing.T) {
	t.Parallel()
	if len(hostile) < 60 {
		t.Fatalf("only %d targets", len(hostile))
	}
	for _, host := range hostile {
		for _, u := range []string{"https://" + host + "/", "https://" + host + ":8443/hook", "HTTPS://" + host} {
			if _, err := (outbound.Policy{}).Check(u); err == nil {
				t.Errorf("%s is accepted", u)
			} else if !errors.Is(err, outbound.ErrNotAllowed) {
				t.Errorf("%s: %v; want not allowed", u, err)
			}
		}
	}
}

func TestPublicURLsAreAcceptedAndOthersSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for u, want := range map[string]error{
		"https://example.com":                              nil,
		"https://example.com:8443/a?b=c":                   nil,
		"https://8.8.8.8/":                                 nil,
		"https://[2606:4700:4700::1111]/":                  nil,
		"https://bücher.example/":                          nil,
		"https://127.0.0.1.nip.io/":                        nil, // a name: its address is checked when dialling
		"https://my_host.example.com/":                     nil,
		"https://example.com./":                            nil,
		"https://" + strings.Repeat("a", 63) + ".example/": nil,
		"https://" + strings.Repeat("a", 64) + ".example/": outbound.ErrMalformed,
		"https://" + strings.Repeat("ü", 60) + ".example/": outbound.ErrMalformed,
		"https://" + strings.Repeat("a.", 125) + "com/":    nil,
		"https://" + strings.Repeat("a.", 126) + "com/":    outbound.ErrMalformed,
		"https://example..com/":                            outbound.ErrMalformed,
		"https://.example.com/":                            outbound.ErrMalformed,
		"https://example.com../":                           outbound.ErrMalformed,
		"https://./":                                       outbound.ErrMalformed,
		"https://exa!mple.com/":                            outbound.ErrMalformed,
		"https://example.com,example.org/":                 outbound.ErrMalformed,
		"https://*.example.com/":                           outbound.ErrMalformed,
		"https://{tenant}.example.com/":                    outbound.ErrNotAllowed,
		"http://example.com/":                              outbound.ErrNotAllowed,
		"https://user:pass@example.com/":                   outbound.ErrNotAllowed,
		"ftp://example.com/":                               outbound.ErrNotAllowed,
		"https://":                                         outbound.ErrMalformed,
		"https:///path":                                    outbound.ErrMalformed,
		"https://exa mple.com/":                            outbound.ErrMalformed,
		"https://example.com/#x":                           outbound.ErrMalformed,
		"https://example.com:65536/":                       outbound.ErrMalformed,
		"https://example.com:0/":                           outbound.ErrMalformed,
		"https://example.com:/":                            outbound.ErrMalformed,
		"https://example.com\\@127.0.0.1/":                 outbound.ErrMalformed,
		"https://127.0.0.1\u00ad/":                         outbound.ErrNotAllowed,
		"https://%31%32%37.0.0.1/":                         outbound.ErrNotAllowed,
		"https://[::1/":                                    outbound.ErrNotAllowed,
		"https://example.com/" + strings.Repeat("x", 2048): outbound.ErrMalformed,
	} {
		if _, err := (outbound.Policy{}).Check(u); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", u, err, want)
		}
	}
}

func TestThePrivateSettingAllowsLoopbackAndPrivateButNeverMetadata(t *testing.T) {
	t.Parallel()
	p := outbound.Policy{AllowPrivate: true}
	for _, u := range []string{
		"http://127.0.0.1:8000/", "http://localhost:8000/", "https://10.0.0.1/",
		"http://[::1]/", "http://[fd12::1]/", "http://192.168.1.1/",
	} {
		if _, err := p.Check(u); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
	for _, u := range []string{
		"http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
		"http://[fe80::1]/", "http://168.63.129.16/", "http://0.0.0.0/", "http://224.0.0.1/",
	} {
		if _, err := p.Check(u); err == nil {
			t.Errorf("%s is accepted", u)
		}
	}
}

func TestOnlyTheInboxItselfIsExempt(t *testing.T) {
	t.Parallel()
	p := outbound.Policy{Inbox: "http://127.0.0.1:9090/sandbox/inbox/"}
	if _, err := p.Check("http://127.0.0.1:9090/sandbox/inbox/demo-1"); err != nil {
		t.Error(err)
	}
	for _, u := range []string{
		"http://127.0.0.1:9090/sandbox/inbox/", "http://127.0.0.1:9090/sandbox/inbox/../../queues",
		"http://127.0.0.1:9090/sandbox/inbox/a?b", "http://127.0.0.1:9090/sandbox/inbox/a/b",
		"http://127.0.0.1:9090/queues/", "http://127.0.0.1:9091/sandbox/inbox/demo",
		"http://localhost:9090/sandbox/inbox/demo", "http://127.1:9090/sandbox/inbox/demo",
		"https://127.0.0.1:9090/sandbox/inbox/demo",
	} {
		if _, err := p.Check(u); err == nil {
			t.Errorf("%s is accepted", u)
		}
	}
}

// A hostile resolver returns internal addresses for a name: at once, or only from the second query on.
func TestWhateverANameResolvesToNoInsideAddressIsDialled(t *testing.T) {
	t.Parallel()
	var accepted atomic.Int32
	inside := listen(t, func(c net.Conn) {
		accepted.Add(1)
		_ = c.Close()
	})
	_, port, _ := net.SplitHostPort(inside)
	for _, answers := range [][]string{
		{"127.0.0.1"},
		{"::1"},
		{"::ffff:127.0.0.1"},
		{"10.0.0.1"},
		{"169.254.169.254"},
		{"100.64.0.1"},
		{"64:ff9b::7f00:1"},
		{"2002:7f00:1::"},
		{"fd00::1"},
		{"0.0.0.0"},
		{"127.0.0.1", "127.0.0.1", "127.0.0.1"},
	} {
		dns := newResolver(t, answers)
		c := outbound.New(outbound.Options{Resolver: dns.resolver(), Timeout: 3 * time.Second})
		for try := range 3 { // rebinding: each connection looks the name up again
			a := c.Post(t.Context(), "https://rebind.example:"+port+"/", http.Header{}, []byte("{}"))
			if a.Err == nil || a.Err.Class != outbound.Blocked {
				t.Errorf("%v, try %d: %+v", answers, try, a.Err)
				continue
			}
			for _, secret := range append(answers, port) {
				if strings.Contains(a.Err.Sentence(), secret) {
					t.Errorf("the org is told %q", a.Err.Sentence())
				}
			}
		}
		if dns.asked.Load() == 0 {
			t.Errorf("%v: the resolver was not asked", answers)
		}
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestARefusedURLIsNotEvenDialled(t *testing.T) {
	t.Parallel()
	var accepted atomic.Int32
	inside := listen(t, func(c net.Conn) {
		accepted.Add(1)
		_ = c.Close()
	})
	_, port, _ := net.SplitHostPort(inside)
	c := outbound.New(outbound.Options{
		Policy:  outbound.Policy{Inbox: "http://127.0.0.1:1/sandbox/inbox/"},
		Timeout: 2 * time.Second,
	})
	for _, host := range hostile {
		for _, scheme := range []string{"http", "https"} {
			if a := c.Post(t.Context(), scheme+"://"+host+":"+port+"/", http.Header{}, nil); a.Err == nil ||
				a.Err.Class != outbound.Blocked {
				t.Errorf("%s://%s: %+v", scheme, host, a)
			}
		}
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestAnEnvironmentsProxyIsNotUsed(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	c := outbound.New(outbound.Options{Timeout: time.Second, Resolver: newResolver(t, []string{"10.9.8.7"}).resolver()})
	c.Post(t.Context(), "https://proxied.example/", http.Header{}, nil)
	if proxied.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

func private(t *testing.T, o outbound.Options) *outbound.Client {
	t.Helper()
	o.Policy.AllowPrivate = true
	return outbound.New(o)
}

func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(target.Close)
	c := private(t, outbound.Options{})
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", target.URL)
			w.WriteHeader(code)
		}))
		a := c.Post(t.Context(), s.URL, http.Header{}, []byte("{}"))
		if a.Err != nil {
			t.Errorf("%d: %v", code, a.Err)
		}
		if at := a.Header.Get("Location"); a.Status != code || at != target.URL {
			t.Errorf("status %d, location %q; want %d, %q", a.Status, at, code, target.URL)
		}
		s.Close()
	}
	if followed.Load() != 0 {
		t.Errorf("%d redirects were followed", followed.Load())
	}
}

func TestTheBytesGivenAreTheBytesSent(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- fmt.Sprintf("%s %s %s %d %s", r.Method, r.Header.Get("X-Service-Signature"), r.UserAgent(),
			r.ContentLength, b)
		_, _ = io.WriteString(w, "thanks")
	}))
	t.Cleanup(s.Close)
	h := http.Header{}
	h.Set("X-Service-Signature", "abc")
	h.Set("User-Agent", "Funnelwork-Webhooks/1")
	a := private(t, outbound.Options{}).Post(t.Context(), s.URL+"/x", h, []byte(`{"a":"<b>"}`))
	want := outbound.Answer{Status: 200, Body: []byte("thanks")}
	if diff := cmp.Diff(want, a, cmpopts.IgnoreFields(want, "Header", "RemoteAddr", "Timings")); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if a.RemoteAddr == "" {
		t.Error("no remote address")
	}
	for phase, took := range map[string]time.Duration{
		"total": a.Timings.Total, "connect": a.Timings.Connect, "first byte": a.Timings.FirstByte,
	} {
		if took <= 0 {
			t.Errorf("%s took %v", phase, took)
		}
	}
	if want := `POST abc Funnelwork-Webhooks/1 11 {"a":"<b>"}`; <-got != want {
		t.Errorf("want %s", want)
	}
}

func TestEachFailureHasItsClass(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	nobody := listen(t, nil)
	hangs := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	closes := listen(t, func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_ = c.Close()
	})
	babbles := listen(t, func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, "HELLO 250 SMTP\r\n\r\n")
		_ = c.Close()
	})
	c := private(t, outbound.Options{Timeout: 15 * time.Second, Resolver: newResolver(t, nil).resolver()})
	impatient := private(t, outbound.Options{Timeout: 400 * time.Millisecond})
	for url, want := range map[string]outbound.Class{
		secure.URL:                     outbound.TLS, // an unknown authority
		"https" + plain.URL[4:]:        outbound.TLS,
		"http://" + nobody:             outbound.Connect,
		"http://" + hangs:              outbound.Timeout,
		"http://" + closes:             outbound.Closed,
		"http://" + babbles:            outbound.Protocol,
		"http://missing.example:1234/": outbound.DNS,
		"http://169.254.169.254/":      outbound.Blocked,
	} {
		caller := c
		if want == outbound.Timeout {
			caller = impatient
		}
		a := caller.Post(t.Context(), url, http.Header{}, []byte("{}"))
		if a.Err == nil || a.Err.Class != want {
			t.Errorf("%s: %v, want %s", url, a.Err, want)
			continue
		}
		if s := a.Err.Sentence(); s == "" || strings.Contains(s, "127.0.0.1") || strings.Contains(s, "169.254") {
			t.Errorf("%s: the org sees %q, want a sentence without an address", url, s)
		}
	}
}

func TestATrustedAuthorityIsEnough(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	c := private(t,
		outbound.Options{Roots: s.Client().
			Transport.(*http.Transport).TLSClientConfig.RootCAs}) //nolint:forcetypeassert // httptest's
	if a := c.Post(t.Context(), s.URL, http.Header{}, nil); a.Err != nil || a.Status != 200 || a.Timings.TLS <= 0 {
		t.Errorf("%v, status %d, TLS handshake in %v; want status 200 and a handshake", a.Err, a.Status, a.Timings.TLS)
	}
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	t.Cleanup(old.Close)
	if a := c.Post(t.Context(), old.URL, http.Header{}, nil); a.Err == nil || a.Err.Class != outbound.TLS {
		t.Errorf("TLS 1.1: %+v", a)
	}
}

func TestAnEndlessAnswerIsReadNoFurtherThan16KiB(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		block := make([]byte, 64<<10)
		for sent.Load() < 1<<30 && r.Context().Err() == nil {
			n, err := w.Write(block)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	a := private(t, outbound.Options{}).Post(t.Context(), s.URL, http.Header{}, nil)
	if a.Err != nil {
		t.Error(a.Err)
	}
	if a.Status != 200 {
		t.Errorf("status %d, want 200", a.Status)
	}
	if len(a.Body) != outbound.MaxAnswer || !a.Cut {
		t.Errorf("%d bytes, cut %v; want %d, cut", len(a.Body), a.Cut, outbound.MaxAnswer)
	}
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("the receiver got rid of %d bytes", n)
	}
}

func TestABodyThatHangsDoesNotUndoTheStatus(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "so far")
		w.(http.Flusher).Flush() //nolint:forcetypeassert // httptest's
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	a := private(t, outbound.Options{Timeout: 200 * time.Millisecond}).Post(t.Context(), s.URL, http.Header{}, nil)
	want := outbound.Answer{Status: 200, Body: []byte("so far"), Cut: true}
	if diff := cmp.Diff(want, a, cmpopts.IgnoreFields(want, "Header", "RemoteAddr", "Timings")); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// Single bytes keep a connection busy forever; the timeout covers the whole call.
func TestASlowDripEndsWithTheCallsTime(t *testing.T) {
	t.Parallel()
	drip := func(begin string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096)) // a response before the request would be another failure
			_, _ = io.WriteString(c, begin)
			for every := time.NewTicker(20 * time.Millisecond); ; <-every.C {
				if _, err := io.WriteString(c, "x"); err != nil {
					every.Stop()
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		begin  string
		status int
		class  outbound.Class
	}{
		"in the status line": {"HTTP/1.1 200 O", 0, outbound.Timeout},
		"in the header":      {"HTTP/1.1 200 OK\r\nX-Slow: ", 0, outbound.Timeout},
		"in a body of 1 GB":  {"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", 200, ""},
		"in an endless body": {"HTTP/1.1 503 Busy\r\n\r\n", 503, ""},
		"in a chunk's size":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := private(t, outbound.Options{Timeout: 300 * time.Millisecond}).Post(t.Context(),
				"http://"+listen(t, drip(c.begin)), http.Header{}, []byte("{}"))
			switch {
			case c.class != "" && (a.Err == nil || a.Err.Class != c.class):
				t.Errorf("%+v, want %s", a, c.class)
			case c.class == "" && (a.Err != nil || a.Status != c.status || !a.Cut):
				t.Errorf("%+v, want %d, cut off", a, c.status)
			}
			if a.Timings.Total > 10*time.Second {
				t.Errorf("took %s", a.Timings.Total)
			}
		})
	}
}

// listen accepts connections for serve; if serve is nil, nothing listens on the port.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if serve == nil {
		_ = l.Close()
		return l.Addr().String()
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

// dnsServer returns the same addresses for every query of their type; with none, that the name does not exist.
type dnsServer struct {
	addr  string
	asked atomic.Int32
}

func newResolver(t *testing.T, answers []string) *dnsServer {
	t.Helper()
	pc, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	d := &dnsServer{addr: pc.LocalAddr().String()}
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			d.asked.Add(1)
			_, _ = pc.WriteTo(reply(buf[:n], answers), from)
		}
	}()
	return d
}

func (d *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", d.addr)
	}}
}

// reply builds a DNS response by hand (RFC 1035 section 4.1).
func reply(q []byte, answers []string) []byte {
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	kind := int(q[end+1])<<8 | int(q[end+2])
	question := q[12 : end+5]
	var records []byte
	count := 0
	for _, a := range answers {
		ip := net.ParseIP(a)
		raw, of := []byte(ip.To16()), 28
		if ip4 := ip.To4(); ip4 != nil && !strings.Contains(a, ":") {
			raw, of = ip4, 1
		}
		if of != kind {
			continue
		}
		count++
		records = append(records, 0xc0, 12, 0, byte(of), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		records = append(records, raw...)
	}
	rcode := byte(0)
	if len(answers) == 0 {
		rcode = 3
	}
	out := append([]byte{q[0], q[1], 0x81, 0x80 | rcode, 0, 1, 0, byte(count), 0, 0, 0, 0}, question...)
	return append(out, records...)
}
