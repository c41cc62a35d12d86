package api

import (
	"context"
	"fmt"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/limits"
)

// request is what the layers before a handler found out about one request.
type request struct {
	id      string
	host    string // that it was sent to: lower case, without port
	ip      netip.Addr
	agent   string // User-Agent, as sent; only below authPath
	who     auth.Who
	refused error  // why the credential did not count; nil without one and with a good one
	scope   string // path and query, without what only turns pages: a cursor is bound to it
	op      *op    // nil until the router has found it

	asked *limits.Asked // the rate's decision, where it is still open

	bodyRead bool    // to its end
	upload   *upload // the body where the handler reads it, else nil

	fixed *fixed // the answer's body where it never changes, else nil

	tag string // of a path below the tags, see namedTag

	key         string // Idempotency-Key, "" without one
	fingerprint [32]byte
	replayed    bool // the answer is a stored one
}

type requestKey struct{}

// requestOf never answers nil.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// who is the verified principal of the request. Only public routes have none.
func who(ctx context.Context) auth.Who { return requestOf(ctx).who }

// clientIP is where the request came from, as far as trusted proxies can be believed.
func clientIP(ctx context.Context) netip.Addr { return requestOf(ctx).ip }

// device is what the request's client gets tokens on.
func device(ctx context.Context) auth.Device {
	r := requestOf(ctx)
	return auth.Device{IP: r.ip, UserAgent: r.agent}
}

// envelope is the outermost layer: id, deadline, headers, the answer to whatever went wrong, one log line.
func (a *App) envelope(c *fiber.Ctx) error {
	began := time.Now()
	r := &request{id: requestID(c.Get("X-Request-Id")), host: hostOf(c)}
	ctx, cancel := context.WithTimeout(context.WithValue(c.UserContext(), requestKey{}, r), requestTime)
	defer cancel()
	c.SetUserContext(ctx)
	headers(c, r)
	if err := a.rescued(c); err != nil {
		a.fail(c, err)
	}
	if err := settle(c, r); err != nil {
		a.fail(c, err)
	}
	if unreadBody(c, r) {
		hangUp(c)
	}
	coding := chooseCoding(c, r)
	if !notModified(c) && coding != identity {
		encode(c, r, coding)
	}
	a.log(c, r, time.Since(began))
	return nil
}

// rescued turns a panic of the inner layers into an error that keeps the stack for the log.
func (a *App) rescued(c *fiber.Ctx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.Next()
}

// headers that every answer bears.
func headers(c *fiber.Ctx, r *request) {
	h := &c.Response().Header
	h.Set("X-Request-Id", r.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// requestID takes the caller's id if it is harmless in a header and a log, else makes one.
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

// log writes the one line of a request.
func (a *App) log(c *fiber.Ctx, r *request, took time.Duration) {
	route := ""
	if r.op != nil {
		route = r.op.Path
	}
	a.Metrics.Observe(c.Method(), route, c.Response().StatusCode(), took)
	args := []any{
		"method", c.Method(), "route", route, "status", c.Response().StatusCode(),
		"took_ms", float64(took.Microseconds()) / 1000, "request_id", r.id,
	}
	if !r.who.Org.IsZero() {
		args = append(args, "org", r.who.Org.String())
	}
	a.Log.InfoContext(c.UserContext(), "request", args...)
}
