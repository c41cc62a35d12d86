package httpx

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/gofiber/fiber/v2"
)

// setBaseHeaders sets the headers of every response.
func setBaseHeaders(c *fiber.Ctx, r *Request) {
	h := &c.Response().Header
	h.Set("X-Request-Id", r.ID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// logRequest writes the log line of a request.
func (s *Server) logRequest(c *fiber.Ctx, r *Request, took time.Duration) {
	route := ""
	if r.Op != nil {
		route = r.Op.Path
	}
	s.Metrics.Observe(c.UserContext(), c.Method(), route, c.Response().StatusCode(), took)
	s.Log.InfoContext(logContext(c.UserContext()), "request",
		"method", c.Method(), "route", route, "status", c.Response().StatusCode(),
		"took_ms", float64(took.Microseconds())/1000)
}

// Problem returns the response to err and logs the details which the caller must not see.
func (s *Server) Problem(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}

	ctx = logContext(ctx)
	r := RequestOf(ctx)
	f := fault.Of(err)
	if f == nil {
		f = s.Plans.Refused(err)
	}

	switch {
	case f != nil:
		// Missing parts were logged at startup, and the HTTP version is the caller's choice.
		expected := f.Code == fault.NotConfigured || f.Code == fault.VersionUnsupported
		if f.Code.Status() >= http.StatusInternalServerError && !expected {
			s.Log.WarnContext(ctx, "request failed", "error", err)
		}
	case postgres.Away(err), postgres.TimedOut(err), errors.Is(err, context.DeadlineExceeded):
		f = &fault.Fault{
			Code:   fault.Unavailable,
			Detail: "The service cannot answer at the moment. Try again shortly.", RetryAfter: time.Second,
		}
		s.Log.WarnContext(ctx, "request failed", "error", err)
	default:
		f = fault.New(fault.Internal, "An internal error occurred. The request id helps us to find it.")
		if !errors.Is(err, context.Canceled) {
			s.Log.ErrorContext(ctx, "request failed", "error", err)
		}
	}

	return problemOf(f, r)
}

// sendProblem responds with err's problem.
func (s *Server) sendProblem(c *fiber.Ctx, err error) {
	if f, ok := errors.AsType[*fiber.Error](err); ok {
		err = fiberFault(f)
	}

	p := s.Problem(c.UserContext(), err)
	for k, v := range p.header {
		c.Response().Header.Set(k, v[0])
	}

	c.Response().ResetBody()
	c.Response().Header.Set("Content-Type", problemType)
	c.Response().Header.Set("Cache-Control", "no-store")
	c.Status(p.Status)
	if err := Marshal(c.Response().BodyWriter(), p); err != nil {
		s.Log.ErrorContext(logContext(c.UserContext()), "encode problem", "error", err)
	}
}

// refuseUnread responds to requests that never reached the middleware, since the server could not read their headers or
// body.
func (s *Server) refuseUnread(c *fiber.Ctx, err error) error {
	r := &Request{ID: RequestID(""), site: s.PublicURL}
	c.SetUserContext(withRequest(c, r))
	setBaseHeaders(c, r)
	s.sendProblem(c, err)
	hangUp(c)
	s.logRequest(c, r, 0)
	return nil
}
