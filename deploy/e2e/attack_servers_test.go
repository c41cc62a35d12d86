package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// nameServersOfCustomers subscribes endpoints and connects mailboxes whose servers are silent or endless.
func (a *attacked) nameServersOfCustomers() {
	a.Helper()
	good := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	a.Cleanup(good.Close)
	silent := endlessServer(a.T, "", "")
	endless := endlessServer(a.T, "HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("y", 64<<10))
	for _, url := range []string{good.URL, "http://" + silent, "http://" + endless} {
		status, answer := ask(a.T, "POST", "http://"+a.api+"/api/v1/webhooks", a.token,
			fmt.Sprintf(`{"url":%q,"events":["contact.created"]}`, url))
		if status != http.StatusCreated {
			a.Fatalf("%d %s", status, answer)
		}
	}
	line := endlessServer(a.T, "", strings.Repeat("z", 64<<10))
	lines := endlessServer(a.T, "", strings.Repeat("220-still here\r\n", 4<<10))
	for n, server := range []string{silent, line, lines, silent, line, lines} {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			a.Fatal(err)
		}
		at := fmt.Sprintf(`{"host":%q,"port":%s,"tls":"none","username":"u","password":"p"}`, host, port)
		status, answer := ask(a.T, "POST", "http://"+a.api+"/api/v1/mailboxes", a.token, fmt.Sprintf(
			`{"kind":"smtp","from_email":"box%d@shop.example","name":"Box %d","smtp":%s,"imap":%s}`, n, n, at, at))
		if status != http.StatusCreated {
			a.Fatalf("%d %s", status, answer)
		}
	}
}

// endlessServer accepts connections, sends first, and then more without an end; with neither it says nothing. It
// returns its address.
func endlessServer(t *testing.T, first, more string) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		serving sync.WaitGroup
		mu      sync.Mutex
		open    []net.Conn
	)
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			serving.Go(func() {
				defer func() { _ = c.Close() }()
				_, err := io.WriteString(c, first)
				for more != "" && err == nil {
					_, err = io.WriteString(c, more)
				}
				if more == "" {
					_, _ = io.Copy(io.Discard, c)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return ln.Addr().String()
}
