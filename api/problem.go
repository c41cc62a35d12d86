package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// problem is the body of every non-2xx answer (RFC 9457). Further members, such as limit and used, stand
// beside these.
type problem struct {
	_          struct{}      `additionalProperties:"true"`
	Type       string        `json:"type" doc:"urn:funnelwork:problem: and the code"`
	Title      string        `json:"title" doc:"The same for every problem with this code"`
	Status     int           `json:"status"`
	Detail     string        `json:"detail" doc:"What happened and what can be done about it, for people"`
	Instance   string        `json:"instance" doc:"urn:uuid: and the request id"`
	Code       fault.Code    `json:"code" doc:"What programs switch on"`
	RequestID  string        `json:"request_id"`
	Errors     []fault.Field `json:"errors,omitempty" doc:"The parts of the request that are wrong"`
	ExistingID string        `json:"existing_id,omitempty" doc:"The row that a conflict is about"`

	more   map[string]any
	header http.Header
}

const problemType = "application/problem+json"

func (p *problem) Error() string { return string(p.Code) }

// GetStatus, GetHeaders and ContentType are what huma asks of an error.
func (p *problem) GetStatus() int { return p.Status }

// GetHeaders are Retry-After and WWW-Authenticate, where they belong.
func (p *problem) GetHeaders() http.Header { return p.header }

// ContentType is that of problems.
func (p *problem) ContentType(string) string { return problemType }

// TransformSchema lists the codes.
func (p *problem) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	codes := fault.Codes()
	slices.Sort(codes)
	for _, c := range codes {
		s.Properties["code"].Enum = append(s.Properties["code"].Enum, string(c))
	}
	s.Properties["errors"].Nullable = false
	return s
}

// MarshalJSON writes the further members behind the fixed ones, sorted.
func (p *problem) MarshalJSON() ([]byte, error) {
	type plain problem
	var b bytes.Buffer
	if err := marshal(&b, (*plain)(p)); err != nil || len(p.more) == 0 {
		return b.Bytes(), err
	}
	b.Truncate(b.Len() - len("}\n"))
	more, err := json.Marshal(p.more) // maps are written sorted
	if err != nil {
		return nil, err
	}
	more[0] = ','
	b.Write(more)
	return b.Bytes(), nil
}

// problem makes the answer to err and logs what the caller must not see.
func (a *App) problem(ctx context.Context, err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	r := requestOf(ctx)
	f := fault.Of(err)
	if f == nil {
		f = a.Plans.Refused(err)
	}
	switch {
	case f != nil:
		// What the install lacks was logged at the start; a version of HTTP is the caller's to choose.
		expected := f.Code == fault.NotConfigured || f.Code == fault.VersionUnsupported
		if f.Code.Status() >= http.StatusInternalServerError && !expected {
			a.Log.WarnContext(ctx, "request failed", "request_id", r.id, "error", err)
		}
	case postgres.Away(err), errors.Is(err, context.DeadlineExceeded):
		f = &fault.Fault{Code: fault.Unavailable, Detail: "The service cannot answer at the moment. Try again shortly.", RetryAfter: time.Second}
		a.Log.WarnContext(ctx, "request failed", "request_id", r.id, "error", err)
	default:
		f = fault.New(fault.Internal, "Something went wrong on our side. The request id helps us to find it.")
		if !errors.Is(err, context.Canceled) {
			a.Log.ErrorContext(ctx, "request failed", "request_id", r.id, "error", err)
		}
	}
	return problemOf(f, r)
}

// problemOf dresses a fault for the wire.
func problemOf(f *fault.Fault, r *request) *problem {
	p := &problem{
		Type: "urn:funnelwork:problem:" + string(f.Code), Title: title(f.Code), Status: f.Code.Status(), Detail: f.Detail,
		Instance: "urn:uuid:" + r.id, Code: f.Code, RequestID: r.id, Errors: f.Fields, ExistingID: f.ExistingID, more: maps.Clone(f.More),
		header: http.Header{},
	}
	maps.DeleteFunc(p.more, func(k string, _ any) bool { return reserved[k] })
	switch wait := f.RetryAfter; {
	case wait > 0:
		p.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	case p.Status == http.StatusServiceUnavailable:
		p.header.Set("Retry-After", "1")
	}
	if p.Status == http.StatusUnauthorized { // RFC 9110 wants a challenge with each, a failed login's too
		challenge := `Bearer realm="funnelwork"`
		if r.refused != nil {
			challenge += `, error="invalid_token"`
		}
		p.header.Set("WWW-Authenticate", challenge)
	}
	return p
}

// reserved are the members that a fault cannot overwrite.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for f := range reflect.TypeFor[problem]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// title is the code as words: "rate_limited" is "Rate limited".
func title(c fault.Code) string {
	words := strings.ReplaceAll(string(c), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// fail answers with err's problem.
func (a *App) fail(c *fiber.Ctx, err error) {
	if f, ok := errors.AsType[*fiber.Error](err); ok {
		err = routing(f)
	}
	p := a.problem(c.UserContext(), err)
	for k, v := range p.header {
		c.Response().Header.Set(k, v[0])
	}
	c.Response().ResetBody()
	c.Response().Header.Set("Content-Type", problemType)
	c.Response().Header.Set("Cache-Control", "no-store")
	c.Status(p.Status)
	if err := marshal(c.Response().BodyWriter(), p); err != nil {
		a.Log.ErrorContext(c.UserContext(), "encode problem", "error", err)
	}
}

// refuse answers what never reached the middleware: headers or a body that the server could not read.
func (a *App) refuse(c *fiber.Ctx, err error) error {
	r := &request{id: requestID("")}
	c.SetUserContext(context.WithValue(context.Background(), requestKey{}, r))
	headers(c, r)
	a.fail(c, err)
	hangUp(c)
	a.log(c, r, 0)
	return nil
}

// routing is Fiber's own refusal as a fault.
func routing(e *fiber.Error) *fault.Fault {
	switch e.Code {
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "There is nothing at this address.")
	case http.StatusMethodNotAllowed:
		return fault.New(fault.MethodNotAllowed, "This address does not know the method. The Allow header lists those that it knows.")
	case http.StatusRequestTimeout:
		return fault.New(fault.RequestTimeout, "The request took too long to arrive.")
	case http.StatusRequestEntityTooLarge:
		return tooLarge(bodyBytes)
	case http.StatusRequestHeaderFieldsTooLarge:
		return fault.Newf(fault.HeaderTooLarge, "The address and the headers may have %d KiB together.", headerBytes>>10)
	default:
		return fault.New(fault.MalformedRequest, unreadable).Because(e)
	}
}
