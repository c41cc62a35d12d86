package framing_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/framing"
)

func seeds(f *testing.F) {
	for _, requests := range refused {
		for _, text := range requests {
			f.Add(get+text, 0)
			f.Add(text, 3)
		}
	}
	for _, c := range taken {
		f.Add(c.text, 0)
		f.Add(c.text, 5)
	}
}

// FuzzNoMoreRequestsThanAStrictReaderSees compares the passed requests with net/http's parsing of the whole input.
func FuzzNoMoreRequestsThanAStrictReaderSees(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 0 || size > 1<<16 {
			size = 0
		}
		strict, err := understood(text)
		if _, noAddress := errors.AsType[*url.Error](err); noAddress {
			t.Skip("net/http refuses the address, which is no matter of framing")
		}
		got := pass(text, size)
		seen, err := understood(got.Text)
		if got.Err == "" && err != nil && !strings.Contains(err.Error(), "unexpected EOF") {
			t.Errorf("a server is let read what it cannot: %v\n%q", err, got.Text)
		}
		if n := len(seen); n > 0 && framing.IsRefusal(seen[n-1].Target) {
			seen = seen[:n-1]
		}
		if n := len(seen); n > 0 && got.Err != "" { // its body has a fault
			seen = seen[:n-1]
		}
		if len(seen) > len(strict) {
			t.Fatalf("%d requests pass, %d are sent:\n%q\n%q", len(seen), len(strict), text, got.Text)
		}
		for i := range seen {
			if d := cmp.Diff(strict[i], seen[i]); d != "" {
				t.Errorf("request %d: %s", i, d)
			}
		}
	})
}

// FuzzServersSeeTheRequestsThatPass compares the requests of servers behind a connection with the scanner's count.
func FuzzServersSeeTheRequestsThatPass(f *testing.F) {
	seeds(f)
	fast, standard := newFast(), newStandard(f)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 0 || size > 1<<16 {
			size = 0
		}
		got := pass(text, size)
		want, err := understood(got.Text)
		if _, noAddress := errors.AsType[*url.Error](err); noAddress {
			t.Skip("net/http refuses the address, which is no matter of framing")
		}
		for name, serve := range map[string]func(net.Conn) []request{
			"fasthttp": fast.serve,
			"net/http": standard.serve,
		} {
			seen := serve(framing.NewConn(&pieces{text: text, size: size}, limits))
			if len(seen) > len(want) {
				t.Errorf("%s sees %d requests, %d pass:\n%q\n%+v", name, len(seen), len(want), text, seen)
			}
			for i := range min(len(want), len(seen)) {
				if framing.IsRefusal(want[i].Target) { // the server may have begun to read it: smaller buffer
					break
				}
				// The server may also have read less of it by the time of its fault: larger pieces. A refusal in its
				// place is right then, and must be the last request.
				if framing.IsRefusal(seen[i].Target) && got.Err != "" && i == len(seen)-1 && i == len(want)-1 {
					break
				}
				if want[i].Method != seen[i].Method || want[i].Body != seen[i].Body {
					t.Errorf("%s sees %+v, and %+v passes", name, seen[i], want[i])
				}
			}
		}
	})
}

type fastServer struct {
	server fasthttp.Server
	seen   []request
}

func newFast() *fastServer {
	s := &fastServer{}
	s.server = fasthttp.Server{
		StreamRequestBody: true, DisablePreParseMultipartForm: true,
		ReadBufferSize: limits.Bytes, Logger: silent{},
	}
	s.server.Handler = func(c *fasthttp.RequestCtx) {
		var body []byte
		var err error
		if stream := c.RequestBodyStream(); stream != nil {
			body, err = io.ReadAll(stream)
		}
		s.seen = append(s.seen, request{string(c.Method()), string(c.RequestURI()), string(body)})
		if err != nil {
			c.SetConnectionClose()
		}
	}
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (s *fastServer) serve(c net.Conn) []request {
	s.seen = nil
	_ = s.server.ServeConn(c)
	return s.seen
}

type standardServer struct {
	conns chan net.Conn
	idle  chan struct{}
	mu    sync.Mutex
	seen  []request
}

func newStandard(f *testing.F) *standardServer {
	s := &standardServer{conns: make(chan net.Conn), idle: make(chan struct{})}
	server := &http.Server{
		MaxHeaderBytes: 32 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			s.mu.Lock()
			s.seen = append(s.seen, request{r.Method, r.RequestURI, string(body)})
			s.mu.Unlock()
			if err != nil {
				w.Header().Set("Connection", "close")
			}
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				s.idle <- struct{}{}
			}
		},
	}
	go func() { _ = server.Serve(s) }()
	f.Cleanup(func() { close(s.conns) })
	return s
}

func (s *standardServer) Accept() (net.Conn, error) {
	if c, ok := <-s.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (*standardServer) Close() error   { return nil }
func (*standardServer) Addr() net.Addr { return &net.TCPAddr{} }

func (s *standardServer) serve(c net.Conn) []request {
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	s.conns <- c
	<-s.idle
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}
