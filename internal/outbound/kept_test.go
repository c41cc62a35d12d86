package outbound_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// TestACallOnAConnectionThatItsServerHasClosedIsMadeOnANewOne calls servers that end kept connections in the ways in
// which servers do: after a response, idle, or when the next request has come, wholly or in part, in order or by a
// reset. Each response says keep-alive.
func TestACallOnAConnectionThatItsServerHasClosedIsMadeOnANewOne(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *net.TCPConn, in *bufio.Reader){
		"closed after the response": func(*net.TCPConn, *bufio.Reader) {},
		"reset after the response":  func(c *net.TCPConn, _ *bufio.Reader) { _ = c.SetLinger(0) },
		"closed when the next request has come": func(_ *net.TCPConn, in *bufio.Reader) {
			if r, err := http.ReadRequest(in); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
		},
		"closed in the middle of the next request": func(_ *net.TCPConn, in *bufio.Reader) { _, _ = in.ReadByte() },
		"reset in the middle of the next request": func(c *net.TCPConn, in *bufio.Reader) {
			_, _ = in.ReadByte()
			_ = c.SetLinger(0)
		},
	} {
		for _, size := range []int{10, 250 << 10} {
			t.Run(name+", "+strconv.Itoa(size)+" bytes", func(t *testing.T) {
				t.Parallel()
				connections, url := serveOnce(t, end)
				client := private(t, outbound.Options{})
				const calls = 20
				for n := range calls {
					a := client.Post(t.Context(), url, http.Header{}, bytes.Repeat([]byte("x"), size))
					if a.Err != nil || a.Status != http.StatusOK {
						t.Fatalf("call %d: status %d, %v", n, a.Status, a.Err)
					}
				}
				if n := connections.Load(); n > 2*calls {
					t.Errorf("%d connections for %d calls", n, calls)
				}
			})
		}
	}
}

// TestACallOnANewConnectionIsMadeOnce calls a server that reads requests and closes without a response.
func TestACallOnANewConnectionIsMadeOnce(t *testing.T) {
	t.Parallel()
	connections, url := serve(t, func(_ *net.TCPConn, in *bufio.Reader) {
		if r, err := http.ReadRequest(in); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
	})
	a := private(t, outbound.Options{}).Post(t.Context(), url, http.Header{}, []byte("x"))
	if a.Err == nil || a.Err.Class != outbound.Closed {
		t.Errorf("status %d, %v", a.Status, a.Err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// serveOnce answers one request on each connection and then ends it by end.
func serveOnce(t *testing.T, end func(*net.TCPConn, *bufio.Reader)) (connections *atomic.Int64, url string) {
	t.Helper()
	return serve(t, func(c *net.TCPConn, in *bufio.Reader) {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
		end(c, in)
	})
}

// serve gives each connection to handle and closes it afterwards.
func serve(t *testing.T, handle func(*net.TCPConn, *bufio.Reader)) (connections *atomic.Int64, url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer func() { _ = c.Close() }()
				if tcp, ok := c.(*net.TCPConn); ok {
					handle(tcp, bufio.NewReader(tcp))
				}
			}()
		}
	}()
	return connections, "http://" + listener.Addr().String()
}
