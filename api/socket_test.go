package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api"
)

// raw sends text over one connection and returns all it receives until the server closes.
func (s *service) raw(text string) string {
	s.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	go func() {
		_, _ = io.WriteString(conn, text)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	all, _ := io.ReadAll(conn)
	return string(all)
}

func TestARequestHiddenInABodyIsNeverAnswered(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	c := s.signup()
	hidden := "GET /openapi.json HTTP/1.1\r\nHost: x\r\nX-Request-Id: hidden\r\n\r\n"
	filler := strings.Repeat("x", 70_000)
	bearer := "Authorization: Bearer " + c.Token + "\r\n"
	for name, head := range map[string]string{
		"unauthorized":    "POST " + things + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n",
		"unknown address": "POST /nowhere HTTP/1.1\r\nHost: x\r\n" + bearer,
		"unknown method":  "BREW " + things + " HTTP/1.1\r\nHost: x\r\n" + bearer,
		"wrong method":    "PUT " + things + " HTTP/1.1\r\nHost: x\r\n" + bearer,
		"wrong type":      "POST " + things + " HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n" + bearer,
		"bad parameter": "POST " + things + "?x=1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
			bearer,
		"body of a GET":    "GET " + things + " HTTP/1.1\r\nHost: x\r\n" + bearer,
		"body of a HEAD":   "HEAD " + things + " HTTP/1.1\r\nHost: x\r\n" + bearer,
		"body of a DELETE": "DELETE " + things + "/x HTTP/1.1\r\nHost: x\r\n" + bearer,
		"docs":             "GET /openapi.json HTTP/1.1\r\nHost: x\r\n",
		"preflight": "OPTIONS " + things +
			" HTTP/1.1\r\nHost: x\r\nOrigin: https://a\r\nAccess-Control-Request-Method: GET\r\n",
		"malformed content": "POST " + things + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + bearer,
	} {
		for form, body := range map[string]string{
			"short":    fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hidden), hidden),
			"long":     fmt.Sprintf("Content-Length: %d\r\n\r\n%s%s", len(filler)+len(hidden), filler, hidden),
			"too long": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 20<<20, strings.Repeat(hidden, 1000)),
			"chunked":  fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden),
			"chunked big": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(hidden)*1000,
				strings.Repeat(hidden, 1000)),
			"both": fmt.Sprintf("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
				len(hidden), hidden),
			"bad chunks": "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + hidden,
			"expecting": fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n\r\n%s%s",
				len(filler)+len(hidden), filler, hidden),
			"two lengths": fmt.Sprintf("Content-Length: 4\r\nContent-Length: %d\r\n\r\n%s", len(hidden), hidden),
			"a bad one":   "Content-Length: -4\r\n\r\n" + hidden,
		} {
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				got := s.raw(head + body)
				if strings.Contains(strings.ToLower(got), "x-request-id: hidden") {
					t.Errorf("the hidden request was answered:\n%s", got)
				}
				if !strings.HasPrefix(got, "HTTP/1.1 ") {
					t.Errorf("no answer: %q", got)
				}
			})
		}
	}
}

func TestARefusedBodyStillGetsItsAnswer(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	// Like many clients, this one sends all of its 12 MiB before it reads; a reset would lose the response.
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const size = 12 << 20
	_, err = fmt.Fprintf(conn,
		"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer "+
			"%s\r\nContent-Length: %d\r\n\r\n", things, s.signup().Token, size)
	if err == nil {
		_, err = io.WriteString(conn, strings.Repeat("x", size))
	}
	if err != nil {
		t.Fatalf("the body could not be sent: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
		t.Errorf("have %d, close %v", res.StatusCode, res.Close)
	}
}

func TestAConnectionLivesThroughManyRequests(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	c := s.signup()
	one := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer "+
		"%s\r\nContent-Length: 2\r\n\r\n{}", things, c.Token)
	last := strings.Replace(one, "Host: x", "Host: x\r\nConnection: close", 1)
	got := s.raw(strings.Repeat(one, 20) + last)
	if n := strings.Count(got, "HTTP/1.1 422"); n != 21 {
		t.Errorf("%d answers, want 21", n)
	}
}

func TestServeEndsWithItsContextAndItsRequests(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	c := s.signup()
	s.sql(`CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN new;
		END $$;
		CREATE TRIGGER dawdle BEFORE INSERT ON thing FOR EACH ROW EXECUTE FUNCTION dawdle()`)
	for _, busy := range []bool{false, true} {
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		app := api.NewWithThings(s.Deps)
		go func() { done <- app.Serve(ctx, ln) }()
		answered := make(chan answer, 1)
		if busy {
			here := *s
			here.URL = "http://" + ln.Addr().String()
			there := &caller{service: &here, Org: c.Org, Token: c.Token}
			silent, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = silent.Close() }()
			go func() { answered <- there.do("POST", things, map[string]any{"name": "slow"}) }()
			for s.count("pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'") == 0 {
				if t.Context().Err() != nil {
					t.Fatal("the insert never began")
				}
			}
		}
		cancel()
		began := time.Now()
		if err := <-done; err != nil || time.Since(began) > 15*time.Second {
			t.Errorf("serve: %v after %v", err, time.Since(began))
		}
		if busy {
			(<-answered).want(t, 201, "")
		}
	}
}
