package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/telemetry"
)

// request holds what the middleware has found out about a request.
type request struct {
	id      string
	host    string // the Host in lower case, without port
	ip      netip.Addr
	agent   string // User-Agent as sent; only below authPrefix
	who     auth.Who
	org     id.ID  // of the log lines: the principal's, or the one that a public operation has found
	refused error  // error of an invalid credential, else nil
	scope   string // path and filters; cursors are bound to it
	op      *op    // nil until routed

	asked *limits.Pending // pending rate limit decision

	bodyRead bool    // to the end
	upload   *upload // set if the handler reads the body

	fixed *fixed // set if the response body is constant

	tag string // name from a tag's path, see namedTag

	key         string // Idempotency-Key, or ""
	fingerprint [32]byte
	replayed    bool // the response is a stored one
}

type requestKey struct{}

// requestOf never returns nil.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// who returns the verified principal of the request. Only requests to public routes have none.
func who(ctx context.Context) auth.Who { return requestOf(ctx).who }

// clientIP returns the client's address, as determined by App.clientIP.
func clientIP(ctx context.Context) netip.Addr { return requestOf(ctx).ip }

// device returns the device to which the request's new tokens are issued.
func device(ctx context.Context) auth.Device {
	r := requestOf(ctx)
	return auth.Device{IP: r.ip, UserAgent: r.agent}
}

// envelope is the outermost middleware. It sets the request id, the deadline and headers, responds to errors, and
// writes one log line.
func (s *Server) envelope(c *fiber.Ctx) error {
	began := time.Now()
	r := &request{id: requestID(c.Get("X-Request-Id")), host: hostOf(c)}
	ctx, cancel := context.WithTimeout(withRequest(c, r), requestTime)
	defer cancel()
	c.SetUserContext(ctx)
	headers(c, r)
	if err := s.rescued(c); err != nil {
		s.fail(c, err)
	}
	if err := settle(c, r); err != nil {
		s.fail(c, err)
	}
	if unreadBody(c, r) {
		hangUp(c)
	}
	coding := chooseCoding(c, r)
	if !notModified(c) && coding != identity {
		encode(c, r, coding)
	}
	s.log(c, r, time.Since(began))
	return nil
}

// withRequest returns a context with the request. Its log lines have the request's id, and the trace id of the caller.
func withRequest(c *fiber.Ctx, r *request) context.Context {
	return withIDs(context.WithValue(c.UserContext(), requestKey{}, r), r.id, c.Get("traceparent"))
}

func withIDs(ctx context.Context, request, traceparent string) context.Context {
	ctx = telemetry.With(ctx, slog.String(telemetry.Request, request))
	if trace := telemetry.TraceID(traceparent); trace != "" {
		ctx = telemetry.With(ctx, slog.String(telemetry.Trace, trace))
	}
	return ctx
}

// withOrg returns a context whose log lines have the org's id, as have the lines that the middleware writes for the
// request from now on. Call it as soon as the request's org is known.
func withOrg(ctx context.Context, org id.ID) context.Context {
	requestOf(ctx).org = org
	return telemetry.With(ctx, slog.String(telemetry.Org, org.String()))
}

// logContext returns ctx with the org of the request: the context of the middleware has none where the operation itself
// has found the org.
func logContext(ctx context.Context) context.Context {
	r := requestOf(ctx)
	if r.org.IsZero() {
		return ctx
	}
	return withOrg(ctx, r.org)
}

// rescued converts a panic of the inner layers to an error that keeps the stack for the log.
func (s *Server) rescued(c *fiber.Ctx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.Next()
}

// headers sets the headers of every response.
func headers(c *fiber.Ctx, r *request) {
	h := &c.Response().Header
	h.Set("X-Request-Id", r.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// requestID returns the caller's id if it is safe in a header and a log, otherwise a new one.
func requestID(given string) string {
	if given == "" || len(given) > 128 {
		return id.New().String()
	}
	for i := range len(given) {
		switch b := given[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '.', b == '_', b == '-':
		default:
			return id.New().String()
		}
	}
	return given
}

// log writes the log line of a request.
func (s *Server) log(c *fiber.Ctx, r *request, took time.Duration) {
	route := ""
	if r.op != nil {
		route = r.op.Path
	}
	s.Metrics.Observe(c.Method(), route, c.Response().StatusCode(), took)
	s.Log.InfoContext(logContext(c.UserContext()), "request",
		"method", c.Method(), "route", route, "status", c.Response().StatusCode(),
		"took_ms", float64(took.Microseconds())/1000)
}
