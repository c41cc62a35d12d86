package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// access is what a route asks of its caller.
type access struct {
	role   auth.Role // "" = public
	noKeys bool      // API keys have no right here, whatever their role
}

// The levels of PRODUCT's permission table.
var (
	public  = access{}
	viewer  = access{role: auth.Viewer}
	member  = access{role: auth.Member}
	admin   = access{role: auth.Admin}
	owner   = access{role: auth.Owner}
	persons = func(r auth.Role) access { return access{role: r, noKeys: true} } // members and keys
)

// op describes one operation: what the router, the guard and the API document need to know.
type op struct {
	Method, Path string
	Need         access
	Tag          string   // the group in the document
	Title        string   // one line
	Status       int      // of success; 200 when 0
	Writes       []string // event types and job kinds that it may write; see testdata/effects.golden
	Secret       bool     // the answer bears a secret: its idempotency record is encrypted
	MaxBody      int64    // bytes; 1 MiB when 0
}

// route is the only way to mount an operation.
func route[I, O any](a *App, o op, handle func(context.Context, *I) (*O, error)) {
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	huma.Register(a.huma, huma.Operation{Method: o.Method, Path: o.Path, Summary: o.Title, Tags: []string{o.Tag}, DefaultStatus: o.Status}, handle)
}

type whoKey struct{}

// who is the verified principal of the request. Only public routes have none.
func who(ctx context.Context) auth.Who {
	w, _ := ctx.Value(whoKey{}).(auth.Who)
	return w
}

// write runs one change: fn's rows, events and jobs, and the idempotency record with fn's answer, in one
// transaction of the caller's org. Every POST, PATCH, PUT and DELETE of an org's data goes through it, exactly
// once per request. The answer of a replay is the stored one; O must survive a round trip through JSON.
func write[O any](ctx context.Context, a *App, fn func(tx *postgres.Tx) (*O, error)) (*O, error) {
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
