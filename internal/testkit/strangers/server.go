// Package strangers has servers, for tests, that send answers which a client must not read to their end.
package strangers

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

// Server is a server on a free port of the loopback interface. It counts its connections, and the bytes
// that the network has taken from it.
type Server struct {
	Host    string
	Port    int
	Address string
	sent    atomic.Int64
	dials   atomic.Int64
	quit    chan struct{}
}

// Conn is a connection to a server.
type Conn struct {
	net.Conn
	server *Server
}

// encrypted returns the connection with TLS above it.
func (c *Conn) encrypted(config *tls.Config) *Conn {
	return &Conn{tls.Server(c.Conn, config), c.server}
}

// Write implements io.Writer.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.server.sent.Add(int64(n))
	return n, err
}

// Serve starts a server. stop ends it and its connections.
func Serve(talk func(c *Conn)) (_ *Server, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a local listener
	if err != nil {
		return nil, nil, err
	}
	at, _ := l.Addr().(*net.TCPAddr)
	s := &Server{Host: "127.0.0.1", Port: at.Port, quit: make(chan struct{})}
	s.Address = net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
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
				talk(&Conn{raw, s})
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

// Certificates returns a configuration for servers on 127.0.0.1, and one for their clients.
func Certificates(t testing.TB) (ofServer, ofClient *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	ofServer = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: s.TLS.Certificates}
	return ofServer, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
}

// Sent returns how many bytes the network has taken from the server, and in how many connections.
func (s *Server) Sent() (bytes, dials int64) { return s.sent.Load(), s.dials.Load() }

// Stopped is closed when the server stops.
func (s *Server) Stopped() <-chan struct{} { return s.quit }
