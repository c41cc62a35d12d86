package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/framing/framingtest"
	"github.com/funnelwork/funnelwork/internal/sandbox/mailbox"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// listeners returns every kind of listener by name, each with a path that accepts a POST.
func listeners(t *testing.T) map[string]struct{ addr, path string } {
	t.Helper()
	s := startThings(t, unlimited)
	listener := opsListener(t, func(o *ops.Options) {
		o.Mounts = map[string]http.Handler{"/sandbox/mailbox/": mailbox.Handler(s.DB.System, s.Deps.Box, o.Log)}
	})
	opsAddr := serving(t, func(ctx context.Context, ln net.Listener) error { return listener.Serve(ctx, ln) })
	meanwhile := func(h http.Handler) string {
		return serving(t, func(ctx context.Context, ln net.Listener) error {
			return ops.ServeUntil(ctx, ln, h, func(ctx context.Context) error {
				<-ctx.Done()
				return nil
			})
		})
	}
	return map[string]struct{ addr, path string }{
		"public":             {strings.TrimPrefix(s.URL, "http://"), "/api/v1/auth/login"},
		"ops":                {opsAddr, "/jobs/"},
		"sandbox":            {opsAddr, "/sandbox/mailbox/"},
		"ops, not ready yet": {meanwhile(ops.Unready(ops.Options{})), "/readyz"},
		"public, not ready":  {meanwhile(ops.Away()), "/api/v1/auth/login"},
	}
}

// opsListener returns the listener for operators with a database and a Redis of its own.
func opsListener(t *testing.T, change func(*ops.Options)) *ops.Listener {
	t.Helper()
	kit := testkit.DB(t)
	o := ops.Options{
		Role: "test", Log: testkit.Log(t), DB: kit.App, System: kit.System, DatabaseURL: kit.URL,
		RedisURL: testkit.Redis(t),
	}
	change(&o)
	listener, err := ops.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// serving runs serve on a listener until the test ends, and returns its address.
func serving(t *testing.T, serve func(context.Context, net.Listener) error) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return ln.Addr().String()
}

// said is one response of a listener.
type said struct {
	Status  int
	Close   bool
	Type    string
	Problem struct {
		Code   string
		Status int
	}
}

// exchange sends the parts one after the other and returns all responses until the listener closes.
func exchange(t *testing.T, addr string, parts ...string) []said {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() {
		for _, part := range parts {
			_, _ = io.WriteString(conn, part)
		}
	}()
	var all []said
	for r := bufio.NewReader(conn); ; {
		one, err := nextAnswer(r)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("after %d answers: %v", len(all), err)
			}
			return all
		}
		all = append(all, one)
	}
}

// nextAnswer reads one response, with the 100 Continue responses before it.
func nextAnswer(r *bufio.Reader) (one said, err error) {
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return one, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusContinue {
		return nextAnswer(r)
	}
	body, err := io.ReadAll(res.Body)
	one = said{Status: res.StatusCode, Close: res.Close, Type: res.Header.Get("Content-Type")}
	_ = json.Unmarshal(body, &one.Problem)
	return one, err
}

func TestBadFramingIsAProblemOnEveryListenerAndEndsTheConnection(t *testing.T) {
	t.Parallel()
	for listener, at := range listeners(t) {
		first := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
		post := "POST " + at.path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		for code, requests := range framingtest.Refused(post, first) {
			for name, text := range requests {
				if code == fault.HeaderTooLarge || name == "the head ends early" || name == "a long trailer" {
					continue // they test limits, early ends and several reads
				}
				t.Run(listener+"/"+name, func(t *testing.T) {
					t.Parallel()
					got := exchange(t, at.addr, first+text)
					good := 1 // number of requests before the refused one
					if name == "data behind the body" || name == "a body behind a GET" {
						good = 2
					}
					if len(got) != good+1 {
						t.Fatalf("%d answers: %+v", len(got), got)
					}
					want := said{Status: code.Status(), Close: true, Type: "application/problem+json"}
					want.Problem.Code, want.Problem.Status = string(code), code.Status()
					if got[good] != want {
						t.Errorf("have %+v, want %+v", got[good], want)
					}
					if got[0].Close {
						t.Error("the request before it closed the connection")
					}
				})
			}
		}
	}
}

func TestABadChunkIsAProblemHoweverLateItComes(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	listener := opsListener(t, func(o *ops.Options) {
		o.Mounts = map[string]http.Handler{"/read/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				http.Error(w, "read the body", http.StatusInternalServerError)
			}
		})}
	})
	for listener, at := range map[string]struct{ addr, path string }{
		"public": {strings.TrimPrefix(s.URL, "http://"), "/api/v1/auth/login"},
		"ops":    {serving(t, listener.Serve), "/read/x"},
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		r := bufio.NewReader(conn)
		_, err = fmt.Fprintf(conn,
			"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: "+
				"100-continue\r\nTransfer-Encoding: chunked\r\n\r\n", at.path)
		if err != nil {
			t.Fatal(err)
		}
		if line, err := r.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
			t.Fatalf("%s: %q %v", listener, line, err)
		}
		_, _ = r.ReadString('\n')
		if _, err = io.WriteString(conn, "4\r\nabcdGET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(r)
		if err != nil || strings.Count(string(all), "HTTP/1.1 ") != 1 {
			t.Errorf("%s: %v in %s", listener, err, all)
		}
		if !strings.HasPrefix(string(all), "HTTP/1.1 400 ") || !strings.Contains(string(all), "malformed_request") {
			t.Errorf("%s: %s", listener, all)
		}
	}
}

func TestWellFramedRequestsAreAnsweredOneByOneOnEveryListener(t *testing.T) {
	t.Parallel()
	for listener, at := range listeners(t) {
		t.Run(listener, func(t *testing.T) {
			t.Parallel()
			post := "POST " + at.path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
			get := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
			for name, one := range map[string]string{
				"gets":         get,
				"minor":        strings.Replace(get, "1.1", "1.2", 1),
				"lengths":      post + "Content-Length: 2\r\n\r\n{}",
				"chunks":       post + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;a=b\r\n}\r\n0\r\nX: y\r\n\r\n",
				"expectations": post + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
			} {
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.addr)
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				const n = 5
				go func() { _, _ = io.WriteString(conn, strings.Repeat(one, n)) }()
				r := bufio.NewReader(conn)
				for i := range n {
					got, err := nextAnswer(r)
					if err != nil {
						t.Fatalf("%s: answer %d: %v", name, i, err)
					}
					if got.Close && (name == "gets" || name == "minor") {
						t.Errorf("%s: answer %d closes the connection: %+v", name, i, got)
					}
					if got.Status == http.StatusHTTPVersionNotSupported || got.Problem.Code == "malformed_request" {
						t.Errorf("%s: answer %d has the status %d, the code %q", name, i, got.Status, got.Problem.Code)
					}
					if got.Close {
						break
					}
				}
				_ = conn.Close()
			}
		})
	}
}
