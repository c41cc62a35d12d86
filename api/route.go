package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// access is what a route asks of its caller.
type access struct {
	role   auth.Role // "" = public
	noKeys bool      // API keys have no right here, whatever their role
	// noStaff refuses an agency's staff: what outlives its access, or is about who has rights in the org.
	noStaff bool
}

// The levels of the permission table.
var (
	public  = access{}
	viewer  = access{role: auth.Viewer}
	member  = access{role: auth.Member}
	admin   = access{role: auth.Admin}
	owner   = access{role: auth.Owner}
	persons = func(r auth.Role) access { return access{role: r, noKeys: true} }
	// members is for what only the org's own people do: members, invitations, keys, passwords, sessions.
	members = func(r auth.Role) access { return access{role: r, noKeys: true, noStaff: true} }
)

// op describes one operation: what the router, the guard and the API document need to know.
type op struct {
	Method, Path string
	Need         access
	Tag          string       // the group in the document
	Title        string       // one line
	Status       int          // of success; 200 when 0
	Also         []int        // further statuses of success with the same body
	Writes       []string     // event types and job kinds that it may write; see testdata/effects.golden
	Secret       bool         // the answer bears a secret: its idempotency record is encrypted, and it is never compressed
	MaxBody      int64        // bytes; 1 MiB when 0
	Open         bool         // not refused though the org is only read from: it changes nothing of the org's
	Part         Part         // what the install must have; else 503 not_configured
	Feature      string       // a feature of the plan that the org must have; else 402 feature_not_in_plan
	ByRow        bool         // the handler holds the body to the document, not huma
	Signed       bool         // public, and its callers sign what they send: they are not counted by address
	Takes        []string     // the media types of a body that is no JSON
	Form         *huma.Schema // a body of multipart/form-data, which the handler reads as it arrives
	Gives        []string     // the media types of an answer that is no JSON
	Foreign      bool         // others send a browser to it, once: unknown parameters are ignored (RFC 6749, 4.1.2), and it has no HEAD
	May          []int        // problems beside those that every operation may answer

	queries map[string]bool   // known query parameters; true where an empty value is none
	silent  map[string]string // the value of a query parameter that says what its absence says
	shape   shape             // of a JSON body
	json    bool              // takes a JSON body
	merge   bool              // which may be a merge patch
	needs   bool              // and cannot be left out
}

// Keyed tells whether an Idempotency-Key counts: on every POST and PATCH but those of /auth.
func (o *op) Keyed() bool {
	return (o.Method == http.MethodPost || o.Method == http.MethodPatch) && !strings.HasPrefix(o.Path, "/api/v1/auth/")
}

// route is the only way to mount an operation. It mounts HEAD with GET, lets the guard see the request before
// its body is read, holds the request to the document, and turns what handle returns into an answer: faults
// become problems, every other error a mute 500.
func route[I, O any](a *App, o op, handle func(context.Context, *I) (*O, error)) {
	visible(reflect.TypeFor[I]())
	visible(reflect.TypeFor[O]())
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	if o.MaxBody == 0 {
		o.MaxBody = bodyBytes
	}
	a.ops = append(a.ops, &o)
	h := huma.Operation{
		OperationID: operationID(o), Method: o.Method, Path: o.Path, Summary: o.Title, Tags: []string{o.Tag},
		DefaultStatus: o.Status, MaxBodyBytes: -1, RequestBody: &huma.RequestBody{}, Parameters: parameters(o),
		Responses: map[string]*huma.Response{}, Middlewares: huma.Middlewares{a.around(&o)}, Security: security(o),
		SkipValidateBody: o.ByRow,
	}
	handled := func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	}
	documented := h
	huma.Register(hidden{a.huma, &documented}, h, handled)
	a.document(&o, &documented)
	if o.Method == http.MethodGet && !o.Foreign {
		h.Method = http.MethodHead
		huma.Register(hidden{a.huma, new(huma.Operation)}, h, handled)
	}
}

// visible refuses an embedded type whose name huma, which looks into exported fields alone, would not see.
func visible(t reflect.Type) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && !f.IsExported() {
			panic(fmt.Sprintf("%s embeds %s: give it an upper-case name, or its parameters and headers are lost", t, f.Name))
		}
	}
}

// hidden keeps what huma derived from the types, so that the document is written by document alone.
type hidden struct {
	huma.API
	op *huma.Operation
}

// DocumentOperation is huma's hook.
func (h hidden) DocumentOperation(o *huma.Operation) { *h.op = *o }

// around is what happens to a request between the router and huma.
func (a *App) around(o *op) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		c := humafiber.Unwrap(hc)
		r := requestOf(hc.Context())
		r.op = o
		oneLine(c, "If-Match", "If-None-Match")
		body, err := a.admit(c, r)
		if err != nil {
			a.fail(c, err)
			return
		}
		if r.upload != nil {
			defer r.upload.end()
		}
		next(&admitted{humaContext: hc, body: body, ctx: c.UserContext()})
		if r.replayed {
			c.Response().Header.Set("Idempotent-Replayed", "true")
		}
	}
}

// write runs one change: fn's rows, events and jobs, and the idempotency record with fn's answer, in one
// transaction of the caller's org. Every POST, PATCH, PUT and DELETE of an org's data goes through it, exactly
// once per request. The answer of a replay is the stored one; O must survive a round trip through JSON.
func write[O any](ctx context.Context, a *App, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
	fn = witnessed(ctx, fn)
	if r := requestOf(ctx); r.key != "" {
		return once(ctx, a, r, fn)
	}
	var out *O
	err := a.DB.Tx(ctx, who(ctx).Org, func(tx *postgres.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// witnessed is fn with an entry in the org's log where its agency's staff acts.
func witnessed[O any](ctx context.Context, fn func(*postgres.Tx) (*O, error)) func(*postgres.Tx) (*O, error) {
	r := requestOf(ctx)
	if r.who.Staff.IsZero() {
		return fn
	}
	return func(tx *postgres.Tx) (*O, error) {
		out, err := fn(tx)
		if err == nil {
			org.Audit(ctx, tx, org.Entry{Action: "staff.acted", Target: "request", ID: r.op.Method + " " + r.op.Path, Detail: map[string]any{"agency": r.who.Staff, "path": r.scope}})
		}
		return out, err
	}
}

// read runs fn over one org's rows; see postgres.DB.View.
func read[O any](ctx context.Context, a *App, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
	var out *O
	err := a.DB.View(ctx, who(ctx).Org, func(tx *postgres.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
