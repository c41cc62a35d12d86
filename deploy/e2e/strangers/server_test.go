// Package strangers_test walks every client of the product that calls a server which somebody else names, and shows that
// such a server can make it read neither without end nor for long.
package strangers_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// server is a server on a free port of the loopback interface. It counts its connections, and the bytes
// that the network has taken from it.
type server struct {
	host    string
	port    int
	address string
	sent    atomic.Int64
	dials   atomic.Int64
	quit    chan struct{}
}

// conn is a connection to a server.
type conn struct {
	net.Conn
	server *server
}

// Write implements io.Writer.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.server.sent.Add(int64(n))
	return n, err
}

// serve starts a server. stop ends it and its connections.
func serve(talk func(c *conn)) (_ *server, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a local listener
	if err != nil {
		return nil, nil, err
	}
	at, _ := l.Addr().(*net.TCPAddr)
	s := &server{host: "127.0.0.1", port: at.Port, quit: make(chan struct{})}
	s.address = net.JoinHostPort(s.host, strconv.Itoa(s.port))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			s.dials.Add(1)
			all.Go(func() {
				stop := make(chan struct{})
				all.Go(func() {
					select {
					case <-s.quit:
					case <-stop:
					}
					_ = raw.Close()
				})
				defer close(stop)
				talk(&conn{raw, s})
			})
		}
	})
	stop = func() {
		close(s.quit)
		_ = l.Close()
		all.Wait()
	}
	return s, stop, nil
}

// certificates returns a configuration for servers on 127.0.0.1, and one for their clients.
func certificates(t testing.TB) (ofServer, ofClient *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	ofServer = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: s.TLS.Certificates}
	return ofServer, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
}
