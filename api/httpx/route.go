package httpx

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"regexp"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
)

// Route mounts an operation. Every operation must be mounted with it. It mounts HEAD with GET, runs the guard before
// the body is read, validates the request against the API document, and converts handle's result to a response. Faults
// become problems; every other error becomes a 500 without details.
func Route[I, O any](s *Server, o Op, handle func(context.Context, *I) (*O, error)) {
	s.mustBeNew(&o)
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	if o.MaxBody == 0 {
		o.MaxBody = bodyBytes
	}

	s.Ops = append(s.Ops, &o)
	term := termOf[I, O](s.Contract, &o)
	o.derived = term.derived
	around := s.middlewareOf(&o, func(ctx context.Context, in *I) (*O, error) {
		r := RequestOf(ctx)
		r.handled = true
		out, err := handle(ctx, in)
		if refused := s.countUnverified(ctx, r); refused != nil {
			err = refused
		}
		if err != nil {
			return nil, s.Problem(ctx, err)
		}
		return out, nil
	})
	handler := func(hc huma.Context) { around(hc, term.handle) }
	s.adapter.Handle(&term.operation, handler)
	if o.Method == http.MethodGet && !o.Foreign {
		head := term.operation
		head.Method = http.MethodHead
		s.adapter.Handle(&head, handler)
	}
}

// operationID is the pattern of an operation's id: a noun in the plural or of an area, a dot, a verb.
var operationID = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*\.[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// mustBeNew panics if o's id has another form than noun.verb or is that of another operation.
func (s *Server) mustBeNew(o *Op) {
	if !operationID.MatchString(o.ID) {
		panic(fmt.Sprintf("%s %s has the id %q: it must be noun.verb", o.Method, o.Path, o.ID))
	}
	for _, other := range s.Ops {
		if other.ID == o.ID {
			panic(fmt.Sprintf("%s %s and %s %s have the same id, %s", o.Method, o.Path, other.Method, other.Path, o.ID))
		}
	}
}

// checkEmbedded panics on an unexported embedded type, since huma would ignore its fields.
func checkEmbedded(t reflect.Type) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && !f.IsExported() {
			panic(fmt.Sprintf("%s embeds %s: give it an upper-case name, or its parameters and headers are lost", t,
				f.Name))
		}
	}
}

// middlewareOf returns the middleware between the router and huma. handle is the operation's function, for
// callMounted.
func (s *Server) middlewareOf(o *Op, handle any) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		c := humafiber.Unwrap(hc)
		r := RequestOf(hc.Context())
		r.Op = o
		r.handle = handle
		oneLine(c, "If-Match", "If-None-Match")
		body, err := s.admitRequest(c, r)
		if err != nil {
			s.failUnverified(c, r, err)
			return
		}
		if r.Upload != nil {
			defer r.Upload.end()
		}

		next(&admitted{humaContext: hc, body: body, ctx: c.UserContext()})
		if !r.handled {
			s.countInvalid(c, r)
		}
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
		return writeOnce(ctx, s, r, fn)
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

// Read runs fn in a read transaction of the caller's org, in which all reads are of one moment; see
// postgres.DB.SnapshotTx.
func Read[O any](ctx context.Context, s *Server, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
	return readBy(ctx, s.DB.SnapshotTx, fn)
}

// ReadFeed is Read for pages of events, each of whose reads sees what was committed before it; see postgres.DB.ReadTx.
func ReadFeed[O any](ctx context.Context, s *Server, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
	return readBy(ctx, s.DB.ReadTx, fn)
}

func readBy[O any](ctx context.Context, read func(context.Context, id.ID, func(*postgres.Tx) error) error,
	fn func(tx *postgres.Tx) (*O, error),
) (*O, error) {
	var out *O
	err := read(ctx, Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		out, err = fn(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ReadStandby is Read from a standby, if there is one that can be used. The rows may be standby.MaxLag old, and fn may
// be called twice: see package standby.
func ReadStandby[O any](ctx context.Context, s *Server, use standby.Use, fn func(tx *postgres.Tx) (*O, error)) (*O,
	error,
) {
	switch {
	case s.Reads != nil:
		return readBy(ctx, s.Reads.For(use).ReadTx, fn)
	case use == standby.Feed:
		return ReadFeed(ctx, s, fn)
	default:
		return Read(ctx, s, fn)
	}
}
