package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Serve serves on ln until ctx ends, and for DrainDelay after that. It then accepts no more connections and lets open
// requests finish. From the end of ctx on, each response closes its connection, so that clients and proxies connect
// elsewhere. Streams end with ctx, those that begin later with the listener. Serve owns ln. A nil error means that ctx
// ended.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	l := &listener{Listener: ln, fresh: map[*conn]bool{}}
	defer s.streams.close()

	done := make(chan error, 1)
	go func() { done <- s.Fiber.Listener(l) }()
	select {
	case err := <-done:
		return errors.Join(err, l.Close())
	case <-ctx.Done():
	}

	s.draining.Store(true)
	s.streams.end()
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
	s.streams.endAndRefuse()
	l.closeFresh()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()

	err := s.Fiber.ShutdownWithContext(grace)
	if stopped := <-done; err == nil && !errors.Is(stopped, net.ErrClosed) {
		err = stopped
	}

	return err
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

// answerRefusal responds to a request which the public listener refused for its framing.
func (s *Server) answerRefusal(rc *fasthttp.RequestCtx) {
	c := s.Fiber.AcquireCtx(rc)
	defer s.Fiber.ReleaseCtx(c)
	var err error = fault.New(fault.MalformedRequest, unreadable)
	if f := refusalOf(c); f != nil {
		err = f
	}
	_ = s.refuseUnread(c, err) // never fails
}
