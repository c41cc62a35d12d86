package httpx

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
)

// wrapRequest is the outermost middleware. It sets the request id, the deadline and headers, responds to errors, and
// writes one log line.
func (s *Server) wrapRequest(c *fiber.Ctx) error {
	began := time.Now()
	r := &Request{ID: RequestID(c.Get("X-Request-Id")), host: hostOf(c)}
	r.site = s.siteOf(r.host)
	ctx, span := s.startSpan(withRequest(c, r), c)
	defer endSpan(c, r, span)

	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()

	c.SetUserContext(ctx)
	setBaseHeaders(c, r)
	defer r.dropStream()

	if err := s.recoverPanic(c); err != nil {
		s.sendProblem(c, err)
	}
	if err := awaitLimit(c, r); err != nil {
		s.sendProblem(c, err)
	}
	if unreadBody(c, r) {
		hangUp(c)
	}

	coding := chooseCoding(c, r)
	if !notModified(c) && coding != identity {
		compressBody(c, r, coding)
	}
	if err := s.startStream(c, r); err != nil {
		s.sendProblem(c, err)
	}

	took := time.Since(began)
	s.logRequest(c, r, took)
	s.recordRequest(c, r, began, took)

	return nil
}

// recoverPanic converts a panic of the inner layers to an error that keeps the stack for the log.
func (s *Server) recoverPanic(c *fiber.Ctx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.Next()
}
