package framing_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/framing"
	"github.com/funnelwork/funnelwork/internal/framing/framingtest"
)

var limits = framing.Limits{Bytes: 16 << 10, Time: time.Minute}

// pieces is a connection that delivers text in pieces of a size; 0 is all at once. It records what is written.
type pieces struct {
	net.Conn
	text string
	size int
	sent bytes.Buffer
}

func (c *pieces) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	if c.size > 0 && len(p) > c.size {
		p = p[:c.size]
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

func (c *pieces) Write(p []byte) (int, error)      { return c.sent.Write(p) }
func (*pieces) Close() error                       { return nil }
func (*pieces) SetReadDeadline(time.Time) error    { return nil }
func (*pieces) SetWriteDeadline(t time.Time) error { return nil }
func (*pieces) SetDeadline(t time.Time) error      { return nil }
func (*pieces) LocalAddr() net.Addr                { return &net.TCPAddr{} }
func (*pieces) RemoteAddr() net.Addr               { return &net.TCPAddr{} }

// passed is what a connection passes to a server.
type passed struct {
	Text string
	Why  string // the detail of the refusal
	Code fault.Code
	Err  string // of the last read, except io.EOF
}

func pass(text string, size int) passed {
	c := framing.NewConn(&pieces{text: text, size: size}, limits)
	b, err := io.ReadAll(bufio.NewReaderSize(c, 64<<10))
	p := passed{Text: string(b)}
	if f := c.Refusal(); f != nil {
		p.Why, p.Code = f.Detail, f.Code
	}
	if err != nil {
		p.Err = err.Error()
	}
	return p
}

// request is a request as a server parses it.
type request struct {
	Method, Target, Body string
}

// understood parses text as net/http does, and returns why it stopped.
func understood(text string) (all []request, err error) {
	r := bufio.NewReader(strings.NewReader(text))
	for {
		if line, _ := r.Peek(2); string(line) == "\r\n" {
			_, _ = r.Discard(2)
		}
		req, err := http.ReadRequest(r)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		body, err := io.ReadAll(req.Body)
		all = append(all, request{req.Method, req.RequestURI, string(body)})
		if err != nil {
			return all, err
		}
	}
}

const (
	get    = "GET /one HTTP/1.1\r\nHost: x\r\n\r\n"
	post   = "POST /two HTTP/1.1\r\nHost: x\r\n"
	hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
)

var refused = framingtest.Refused(post, hidden)

func TestNothingBehindARefusedRequestIsRead(t *testing.T) {
	t.Parallel()
	for code, requests := range refused {
		for name, text := range requests {
			for _, size := range []int{0, 1, 2, 7, 100} {
				t.Run(fmt.Sprint(name, "/", size), func(t *testing.T) {
					t.Parallel()
					got := pass(get+text, size)
					if got.Code != code {
						t.Errorf("refused with %q (%s), want %q", got.Code, got.Why, code)
					}
					if strings.Contains(got.Text, "hidden") {
						t.Errorf("the hidden request was let through:\n%q", got.Text)
					}
					if !strings.HasPrefix(got.Text, get) {
						t.Errorf("the request before it was not let through: %.200q", got.Text)
					}
				})
			}
		}
	}
}

func TestARefusalStandsInForItsRequest(t *testing.T) {
	t.Parallel()
	for code, requests := range refused {
		for name, text := range requests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				got := pass(get+text, 0)
				all, err := understood(got.Text)
				if err != nil || got.Err != "" {
					t.Fatalf("a server reads %v, %s: %q", err, got.Err, got.Text)
				}
				last := all[len(all)-1]
				if !framing.IsRefusal(last.Target) || got.Code != code {
					t.Errorf("%s ends with %+v", got.Code, last)
				}
			})
		}
	}
}

// taken are complete requests, and the result of parsing them.
var taken = map[string]struct {
	text string
	want []request
}{
	"pipelined": {
		get + get + get,
		[]request{{"GET", "/one", ""}, {"GET", "/one", ""}, {"GET", "/one", ""}},
	},
	"bodies": {
		post + "Content-Length: 4\r\n\r\nabcd" + get + post +
			"content-LENGTH:\t2 \r\n\r\nef" + get,
		[]request{{"POST", "/two", "abcd"}, {"GET", "/one", ""}, {"POST", "/two", "ef"}, {"GET", "/one", ""}},
	},
	"a request in a body": {
		post + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(hidden)) + hidden + get,
		[]request{{"POST", "/two", hidden}, {"GET", "/one", ""}},
	},
	"a request in a chunk": {post + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%X\r\n",
		len(hidden)) + hidden + "\r\n0\r\n\r\n" + get, []request{{"POST", "/two", hidden}, {"GET", "/one", ""}}},
	"length of nothing": {
		post + "Content-Length: 0\r\n\r\n" + get,
		[]request{{"POST", "/two", ""}, {"GET", "/one", ""}},
	},
	"zeros before a length": {
		post + "Content-Length: 0004\r\n\r\nabcd" + get,
		[]request{{"POST", "/two", "abcd"}, {"GET", "/one", ""}},
	},
	"neither length nor coding": {post + "\r\n" + get, []request{{"POST", "/two", ""}, {"GET", "/one", ""}}},
	"a GET with a body": {
		"GET /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab" + get,
		[]request{{"GET", "/x", "ab"}, {"GET", "/one", ""}},
	},
	"chunks": {
		post +
			"transfer-encoding: Chunked \r\n\r\n2\r\nab\r\n0a\r\n0123456789\r\n0\r\n\r\n" + get,
		[]request{{"POST", "/two", "ab0123456789"}, {"GET", "/one", ""}},
	},
	"extensions": {post +
		"Transfer-Encoding: chunked\r\n\r\n2;a=b;c=\"d e\"\r\nab\r\n1; x\r\nc\r\n0;" + strings.Repeat("a",
		1000) + "\r\n\r\n" + get, []request{{"POST", "/two", "abc"}, {"GET", "/one", ""}}},
	"trailers": {
		post +
			"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: y\r\nContent-Length: 9\r\n0: \r\n\r\n" + get,
		[]request{{"POST", "/two", "ab"}, {"GET", "/one", ""}},
	},
	"an empty line between":    {get + "\r\n" + get, []request{{"GET", "/one", ""}, {"GET", "/one", ""}}},
	"an empty line in front":   {"\r\n" + get, []request{{"GET", "/one", ""}}},
	"an empty line at the end": {get + "\r\n", []request{{"GET", "/one", ""}}},
	"HTTP/1.2": {
		"GET /x HTTP/1.2\r\nHost: x\r\n\r\n" + get,
		[]request{{"GET", "/x", ""}, {"GET", "/one", ""}},
	},
	"HTTP/1.0 without a host": {
		"GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get,
		[]request{{"GET", "/x", ""}, {"GET", "/one", ""}},
	},
	"HTTP/1.0 with a body": {
		"POST /x HTTP/1.0\r\nContent-Length: 2\r\n\r\nab" + get,
		[]request{{"POST", "/x", "ab"}, {"GET", "/one", ""}},
	},
	"an absolute target":    {"GET http://y/x HTTP/1.1\r\nHost: y\r\n\r\n", []request{{"GET", "http://y/x", ""}}},
	"OPTIONS of the server": {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", []request{{"OPTIONS", "*", ""}}},
	"an empty host":         {"GET /x HTTP/1.1\r\nHost:\r\n\r\n", []request{{"GET", "/x", ""}}},
	"an address as host":    {"GET /x HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", []request{{"GET", "/x", ""}}},
	"values above ASCII, tabs": {
		"GET /x HTTP/1.1\r\nHost: x\r\nX: \xc3\xbc\ta\r\nY:\r\n\r\n",
		[]request{{"GET", "/x", ""}},
	},
	"a target above ASCII": {"GET /\xc3\xbc HTTP/1.1\r\nHost: x\r\n\r\n", []request{{"GET", "/\xc3\xbc", ""}}},
	"a head of the largest size": {
		"GET /x HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a",
			16<<10-len("GET /x HTTP/1.1\r\nHost: x\r\nX: \r\n\r\n")) + "\r\n\r\n" + get,
		[]request{{"GET", "/x", ""}, {"GET", "/one", ""}},
	},
	"a long body": {
		post + "Content-Length: 100000\r\n\r\n" + strings.Repeat("a", 100_000) + get,
		[]request{{"POST", "/two", strings.Repeat("a", 100_000)}, {"GET", "/one", ""}},
	},
}

func TestWholeRequestsPassWhateverTheirPieces(t *testing.T) {
	t.Parallel()
	for name, c := range taken {
		for _, size := range []int{0, 1, 2, 3, 7, 33, 1000} {
			t.Run(fmt.Sprint(name, "/", size), func(t *testing.T) {
				t.Parallel()
				got := pass(c.text, size)
				if got.Why != "" || got.Err != "" {
					t.Fatalf("refused: %s %s", got.Why, got.Err)
				}
				all, err := understood(got.Text)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, all); d != "" {
					t.Error(d)
				}
				for _, s := range []string{"HTTP/1.2", "a=b", "X: y"} {
					if strings.Contains(got.Text, s) {
						t.Errorf("the server sees %q in %q", s, got.Text)
					}
				}
			})
		}
	}
}

func TestWhatHasArrivedOfABodyIsPassedOnBeforeItsFault(t *testing.T) {
	t.Parallel()
	text := post + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n"
	got := pass(text+"zz\r\n"+hidden, len(text))
	want := passed{Text: text, Why: "The size of a chunk is malformed.", Code: fault.MalformedRequest, Err: got.Err}
	if d := cmp.Diff(want, got); d != "" || got.Err == "" {
		t.Errorf("error %q, %s", got.Err, d)
	}
}

func TestASlowHeadIsRefusedInItsOwnTime(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	c := framing.NewConn(ours, framing.Limits{Bytes: 1 << 10, Time: time.Millisecond})
	if err := c.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = theirs.Write([]byte("GET / HTTP/1.1\r\nHo")) }()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := understood(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || !framing.IsRefusal(all[0].Target) {
		t.Errorf("%v, want one refusal", all)
	}
	if code := c.Refusal().Code; code != fault.RequestTimeout {
		t.Errorf("refused with %s, want %s", code, fault.RequestTimeout)
	}
}

func TestAServersDeadlineLeavesTheHeadThatIsHeld(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	c := framing.NewConn(ours, limits)
	go func() { _, _ = theirs.Write([]byte(get[:10])) }()
	if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 1)
	var timeout net.Error
	n, err := c.Read(p)
	if n != 0 {
		t.Fatalf("read %d bytes, want none", n)
	}
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("error %v, want a timeout", err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = theirs.Write([]byte(get[10:]))
		_ = theirs.Close()
	}()
	b, err := io.ReadAll(c)
	if string(b) != get || err != nil {
		t.Errorf("%q %v", b, err)
	}
}

func TestAScanAllocatesNothing(t *testing.T) {
	head := "GET /api/v1/crm/contacts/0199 HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: " +
		"Go-http-client/1.1\r\nAuthorization: Bearer " +
		strings.Repeat("a", 300) + "\r\nAccept-Encoding: gzip\r\nX-Request-Id: abc\r\n\r\n"
	raw := &pieces{}
	c := framing.NewConn(raw, limits)
	p := make([]byte, 16<<10)
	if n := testing.AllocsPerRun(100, func() {
		raw.text = head
		if n, err := c.Read(p); n != len(head) || err != nil {
			t.Error(n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRead(b *testing.B) {
	head := "GET /api/v1/crm/contacts/0199 HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: " +
		"Go-http-client/1.1\r\nAuthorization: Bearer " +
		strings.Repeat("a", 80) + "\r\nAccept-Encoding: gzip\r\nX-Request-Id: abc\r\n\r\n"
	raw := &pieces{}
	c := framing.NewConn(raw, limits)
	p := make([]byte, 16<<10)
	b.ReportAllocs()
	for b.Loop() {
		raw.text = head
		if n, err := c.Read(p); n != len(head) || err != nil {
			b.Fatal(n, err)
		}
	}
}
