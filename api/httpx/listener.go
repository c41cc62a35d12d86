package httpx

import (
	"net"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/framing"
)

// listener tracks connections without a request so far. The server counts them as busy and would wait for them at
// shutdown.
type listener struct {
	net.Listener
	once  sync.Once
	mu    sync.Mutex
	fresh map[*conn]bool
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	one := &conn{Conn: framing.NewConn(c, headLimits), home: l}
	l.mu.Lock()
	l.fresh[one] = true
	l.mu.Unlock()
	return one, nil
}

// Close may be called more than once.
func (l *listener) Close() (err error) {
	l.once.Do(func() { err = l.Listener.Close() })
	return err
}

func (l *listener) closeFresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.fresh {
		_ = c.Conn.Close()
	}
}

func (l *listener) forget(c *conn) {
	l.mu.Lock()
	delete(l.fresh, c)
	l.mu.Unlock()
}

// conn checks the framing of requests before the server reads them.
type conn struct {
	*framing.Conn
	home *listener
	used bool // used by one goroutine
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.used {
		c.used = true
		c.home.forget(c)
	}
	return n, err
}

func (c *conn) Close() error {
	c.home.forget(c)
	return c.Conn.Close()
}

// hangUp closes the connection after this response. Part of the request was not read and would otherwise be parsed as
// the next request.
func hangUp(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	if l, ok := c.Context().Conn().(*conn); ok {
		l.Linger()
	}
}

// headLimits are the header limits of the public listener.
var headLimits = framing.Limits{Bytes: headerBytes, Time: readTimeout}
