package httpx

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/telemetry"
)

// Request holds what the middleware has found out about a request.
type Request struct {
	ID      string
	host    string // the Host in lower case, without port
	site    string // base of the links in the response, without a trailing slash
	IP      netip.Addr
	agent   string // User-Agent as sent; only below authPrefix
	Who     auth.Who
	Org     id.ID  // of the log lines: the principal's, or the one that a public operation has found
	refused error  // error of an invalid credential, else nil
	https   bool   // whether the browser uses https; only with Op.Console
	scope   string // path and filters; cursors are bound to it
	Op      *Op    // nil until routed
	handle  any    // the operation's func(context.Context, *I) (*O, error); see callMounted

	asked *limits.Pending // pending rate limit decision

	handled    bool // the operation's function was called
	unverified bool // see Unverified

	bodyRead bool     // to the end
	body     []byte   // JSON as it was sent, once it was read
	problem  *Problem // the latest one that was made for the request
	Upload   *upload  // set if the handler reads the body

	Fixed *Fixed // set if the response body is constant

	stream *Stream // set by StartStream, until it begins

	Tag string // name from a tag's path, see namedTag

	Key         string // Idempotency-Key, or ""
	Fingerprint [32]byte
	Replayed    bool // the response is a stored one
}

type requestKey struct{}

// RequestOf never returns nil.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}

// Who returns the verified principal of the request. Only requests to public routes have none.
func Who(ctx context.Context) auth.Who { return RequestOf(ctx).Who }

// ClientIP returns the client's address, as determined by Server.ClientIP.
func ClientIP(ctx context.Context) netip.Addr { return RequestOf(ctx).IP }

// DeviceOf returns the device to which the request's new tokens are issued.
func DeviceOf(ctx context.Context) auth.Device {
	r := RequestOf(ctx)
	return auth.Device{IP: r.IP, UserAgent: r.agent}
}

// withRequest returns a context with the request. Its log lines have the request's id, and the trace id of the caller.
func withRequest(c *fiber.Ctx, r *Request) context.Context {
	return WithIDs(context.WithValue(c.UserContext(), requestKey{}, r), r.ID, c.Get("traceparent"))
}

// WithIDs returns a context whose log lines have the request's id, and the trace id of a valid traceparent header.
func WithIDs(ctx context.Context, request, traceparent string) context.Context {
	ctx = telemetry.With(ctx, slog.String(telemetry.Request, request))
	if trace := telemetry.TraceID(traceparent); trace != "" {
		ctx = telemetry.With(ctx, slog.String(telemetry.Trace, trace))
	}
	return ctx
}

// WithOrg returns a context whose log lines have the org's id, as have the lines that the middleware writes for the
// request from now on. Call it as soon as the request's org is known.
func WithOrg(ctx context.Context, org id.ID) context.Context {
	RequestOf(ctx).Org = org
	return telemetry.With(ctx, slog.String(telemetry.Org, org.String()))
}

// logContext returns ctx with the org of the request: the context of the middleware has none where the operation itself
// has found the org.
func logContext(ctx context.Context) context.Context {
	r := RequestOf(ctx)
	if r.Org.IsZero() {
		return ctx
	}
	return WithOrg(ctx, r.Org)
}

// RequestID returns the caller's id if it is safe in a header and a log, otherwise a new one.
func RequestID(given string) string {
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

// upload is a request body read by the handler. Its errors are faults.
type upload struct {
	Boundary string // of multipart/form-data
	from     io.Reader
	conn     net.Conn
	left     int64 // bytes left to the limit
	limit    int64
	request  *Request
	end      context.CancelFunc // cancels the handler's context
}
