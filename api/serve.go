package api

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Serve answers on ln until ctx ends, then takes no more connections and lets open requests finish. It owns
// ln. A nil error means that ctx ended.
func (a *App) Serve(ctx context.Context, ln net.Listener) error {
	ln = lingering{ln}
	done := make(chan error, 1)
	go func() { done <- a.fiber.Listener(ln) }()
	select {
	case err := <-done:
		return errors.Join(err, ln.Close())
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := a.fiber.ShutdownWithContext(grace)
	_ = ln.Close() // again, for a stop before the first Accept
	<-done
	return err
}

// How far the rest of a refused request is read before its connection closes.
const (
	lingerBytes = 64 << 20
	lingerTime  = 2 * time.Second
)

// lingering makes connections that can be closed without losing the answer: closing one while the peer still
// sends makes the kernel reset it, and the peer then never sees why it was refused.
type lingering struct{ net.Listener }

func (l lingering) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lingerConn{Conn: c}, nil
}

type lingerConn struct {
	net.Conn
	unread atomic.Bool // the peer may still be sending what nobody will answer
}

func (c *lingerConn) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.unread.Load() && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, lingerBytes))
	}
	return c.Conn.Close()
}

// hangUp closes the connection after this answer, since part of the request was left unread and would
// otherwise be taken for the next one.
func hangUp(c *fiber.Ctx) {
	c.Context().SetConnectionClose()
	if l, ok := c.Context().Conn().(*lingerConn); ok {
		l.unread.Store(true)
	}
}

// methods answers what Fiber would answer in plain text: a method that it has never heard of.
func (a *App) methods() {
	server := a.fiber.Server()
	known := server.Handler
	server.Handler = func(rc *fasthttp.RequestCtx) {
		if slices.Contains(fiber.DefaultMethods, string(rc.Method())) {
			known(rc)
			return
		}
		c := a.fiber.AcquireCtx(rc)
		defer a.fiber.ReleaseCtx(c)
		c.Set("Allow", strings.Join(fiber.DefaultMethods, ", "))
		_ = a.refuse(c, fiber.ErrMethodNotAllowed) // answers nil
	}
}
