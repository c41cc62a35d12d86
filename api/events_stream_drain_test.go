package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/redisx"
)

// shareStreams gives the API leases of its own on a Redis, as each process has them.
func shareStreams(t *testing.T, url string) func(*api.Deps) {
	t.Helper()
	client, err := redisx.Open(url, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return func(d *api.Deps) { d.Streams = limits.NewLeases(client, d.Log) }
}

func TestStreamsEndWhenTheServerDrains(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) { d.DrainDelay = 3 * time.Second })
	c := s.signup()
	ctx, stop := context.WithCancel(t.Context())
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	second := *s
	second.App, second.URL = api.New(s.Deps), "http://"+ln.Addr().String()
	done := make(chan error, 1)
	go func() { done <- second.App.Serve(ctx, ln) }()
	open := c.at(&second).connect(streamPath)
	stop()
	open.ends()
	select {
	case err := <-done:
		t.Fatalf("the stream has ended with the listener, not at the beginning of the drain: %v", err)
	default:
	}
	late := c.at(&second).connect(streamPath)
	if err := <-done; err != nil {
		t.Error(err)
	}
	late.ends()
}

func TestAReaderThatDoesNotReadIsClosedAndDelaysNobody(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(c.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", streamPath, c.Token)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil) //nolint:bodyclose // conn is closed
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	quick := c.connect(streamPath)
	big := strings.Repeat("x", 4000)
	const n = 300
	for i := range n / 100 {
		var rows []map[string]any
		for k := range 100 {
			rows = append(rows, map[string]any{
				"email": fmt.Sprintf("c%d-%d@example.test", i, k), "first_name": "A", "last_name": "B",
				"attributes": map[string]any{"a": big[:900], "b": big[:900], "c": big[:900], "d": big[:900]},
			})
		}
		c.do("POST", contactsPath+"/batch", map[string]any{"contacts": rows}).want(t, 200, "")
	}
	for range n {
		quick.next()
	}
}
