package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/framing"
)

// Serve serves on ln until ctx ends, and for DrainDelay after that. It then accepts no more connections and lets open
// requests finish. From the end of ctx on, each response closes its connection, so that clients and proxies connect
// elsewhere. Serve owns ln. A nil error means that ctx ended.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	l := &listener{Listener: ln, fresh: map[*conn]bool{}}
	done := make(chan error, 1)
	go func() { done <- s.Fiber.Listener(l) }()
	select {
	case err := <-done:
		return errors.Join(err, l.Close())
	case <-ctx.Done():
	}
	s.draining.Store(true)
	if s.DrainDelay > 0 {
		delay := time.NewTimer(s.DrainDelay)
		defer delay.Stop()
		select {
		case err := <-done:
			return errors.Join(err, l.Close())
		case <-delay.C:
		}
	}
	_ = l.Close() // Listener returns the same error
	l.closeFresh()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := s.Fiber.ShutdownWithContext(grace)
	if stopped := <-done; err == nil && !errors.Is(stopped, net.ErrClosed) {
		err = stopped
	}
	return err
}

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

// Finish wraps the server's handler for cases that bypass Fiber's middleware.
//
// Fiber responds in plain text to a method that it does not know. frame routes such a request as a known method without
// routes: it gets a 405 with the path's Allow, or a 404, and is counted and logged like any other.
func (s *Server) Finish() {
	server := s.Fiber.Server()
	known := server.Handler
	server.Handler = func(rc *fasthttp.RequestCtx) {
		switch {
		case isRefusal(rc.RequestURI()):
			s.answerRefusal(rc)
		case !slices.Contains(fiber.DefaultMethods, string(rc.Method())):
			rc.Request.Header.SetMethod(http.MethodTrace)
			fallthrough
		default:
			known(rc)
		}
		if s.draining.Load() {
			rc.SetConnectionClose()
		}
	}
}
