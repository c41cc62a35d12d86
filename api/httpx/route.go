package httpx

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// access is what an operation requires of its caller.
type access struct {
	Role   auth.Role // "" for public
	NoKeys bool      // refuses API keys of any role
	// noStaff refuses an agency's staff. It protects what outlives the staff's access, and the rights of users in the
	// org.
	noStaff bool
}

// The levels of the permission table.
var (
	Public  = access{}
	Viewer  = access{Role: auth.Viewer}
	Member  = access{Role: auth.Member}
	Admin   = access{Role: auth.Admin}
	Owner   = access{Role: auth.Owner}
	Persons = func(r auth.Role) access { return access{Role: r, NoKeys: true} }
	// members is for operations reserved to the org's own users: members, invitations, keys, passwords, sessions.
	Members = func(r auth.Role) access { return access{Role: r, NoKeys: true, noStaff: true} }
)

// Op describes one operation for the router, the guard and the API document.
type Op struct {
	Method, Path string
	Need         access
	Tag          string   // group in the document
	Title        string   // summary in one line
	Status       int      // success status; 200 if 0
	Also         []int    // further success statuses with the same body
	Writes       []string // event types and job kinds it may write; see testdata/effects.golden
	// Secret marks a response that contains a secret. Its stored form is encrypted, and it is never compressed.
	Secret  bool
	MaxBody int64        // bytes; 1 MiB if 0
	Open    bool         // allowed for a read-only org, since it changes none of its data
	Part    Part         // required part, else 503 not_configured
	Feature string       // required plan feature, else 402 feature_not_in_plan
	ByRow   bool         // the handler validates the body, not huma
	Signed  bool         // public with signed requests: no rate limit by address
	Takes   []string     // media types of a body that is not JSON
	Form    *huma.Schema // multipart/form-data body, read by the handler as it arrives
	Gives   []string     // media types of a response that is not JSON
	// Foreign marks an address to which other services redirect a browser once. Unknown parameters are ignored (RFC
	// 6749, 4.1.2), and it has no HEAD.
	Foreign bool
	May     []int // error statuses besides the common ones

	queries   map[string]bool   // known query parameters; true: may not be empty
	silent    map[string]string // default values of query parameters
	shape     Shape             // of the JSON body
	TakesJSON bool              // takes a JSON body
	merge     bool              // which may be a merge patch
	needsBody bool              // which is required
}

// Keyed reports whether an Idempotency-Key has effect: on every POST and PATCH except those of /auth.
func (o *Op) Keyed() bool {
	return (o.Method == http.MethodPost || o.Method == http.MethodPatch) && !strings.HasPrefix(o.Path, "/api/v1/auth/")
}

// Route mounts an operation. Every operation must be mounted with it. It mounts HEAD with GET, runs the guard before
// the body is read, validates the request against the API document, and converts handle's result to a response. Faults
// become problems; every other error becomes a 500 without details.
func Route[I, O any](s *Server, o Op, handle func(context.Context, *I) (*O, error)) {
	visible(reflect.TypeFor[I]())
	visible(reflect.TypeFor[O]())
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	if o.MaxBody == 0 {
		o.MaxBody = bodyBytes
	}
	s.Ops = append(s.Ops, &o)
	h := huma.Operation{
		OperationID: OperationID(o), Method: o.Method, Path: o.Path, Summary: o.Title, Tags: []string{o.Tag},
		DefaultStatus: o.Status, MaxBodyBytes: -1, RequestBody: &huma.RequestBody{}, Parameters: parameters(o),
		Responses: map[string]*huma.Response{}, Middlewares: huma.Middlewares{s.around(&o)}, Security: security(o),
		SkipValidateBody: o.ByRow,
	}
	handled := func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.Problem(ctx, err)
		}
		return out, nil
	}
	documented := h
	huma.Register(hidden{s.Huma, &documented}, h, handled)
	describeOperation(reflect.TypeFor[I](), reflect.TypeFor[O](), &documented, s.Huma.OpenAPI().Components.Schemas)
	s.document(&o, &documented)
	if o.Method == http.MethodGet && !o.Foreign {
		h.Method = http.MethodHead
		huma.Register(hidden{s.Huma, new(huma.Operation)}, h, handled)
	}
}

// visible panics on an unexported embedded type, since huma would ignore its fields.
func visible(t reflect.Type) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && !f.IsExported() {
			panic(fmt.Sprintf("%s embeds %s: give it an upper-case name, or its parameters and headers are lost", t,
				f.Name))
		}
	}
}

// hidden captures the operation that huma derives from the types, so that only document writes to the API document.
type hidden struct {
	huma.API
	op *huma.Operation
}

// DocumentOperation implements huma's hook.
func (h hidden) DocumentOperation(o *huma.Operation) { *h.op = *o }

// around returns the middleware between the router and huma.
func (s *Server) around(o *Op) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		c := humafiber.Unwrap(hc)
		r := RequestOf(hc.Context())
		r.Op = o
		oneLine(c, "If-Match", "If-None-Match")
		body, err := s.admit(c, r)
		if err != nil {
			s.fail(c, err)
			return
		}
		if r.Upload != nil {
			defer r.Upload.end()
		}
		next(&admitted{humaContext: hc, body: body, ctx: c.UserContext()})
		if r.Replayed {
			c.Response().Header.Set("Idempotent-Replayed", "true")
		}
	}
}

// Write runs one change in a transaction of the caller's org. The transaction contains fn's rows, events and jobs, and
// the idempotency record with fn's response. Every POST, PATCH, PUT and DELETE of an org's data must call write exactly
// once per request. A replay returns the stored response, so O must survive a round trip through JSON.
func Write[O any](ctx context.Context, s *Server, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
	fn = withStaffAudit(ctx, s, fn)
	if r := RequestOf(ctx); r.Key != "" {
		return once(ctx, s, r, fn)
	}
	var out *O
	err := s.DB.Tx(ctx, Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// withStaffAudit returns fn with an added audit log entry if the caller is an agency's staff.
func withStaffAudit[O any](ctx context.Context, s *Server, fn func(*postgres.Tx) (*O, error)) func(*postgres.Tx) (*O,
	error,
) {
	r := RequestOf(ctx)
	if r.Who.Staff.IsZero() {
		return fn
	}
	return func(tx *postgres.Tx) (*O, error) {
		out, err := fn(tx)
		if err == nil {
			s.Audit(ctx, tx, r.Who.Staff, r.Op.Method+" "+r.Op.Path, r.scope)
		}
		return out, err
	}
}

// Read runs fn in a read transaction of the caller's org; see postgres.DB.ReadTx.
func Read[O any](ctx context.Context, s *Server, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
	var out *O
	err := s.DB.ReadTx(ctx, Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
