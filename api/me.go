package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// me is who asks, as the service sees them.
type me struct {
	User   *auth.User `json:"user,omitempty" doc:"Left out for an API key"`
	APIKey *keyName   `json:"api_key,omitempty" doc:"Left out for a person"`
	Org    orgName    `json:"org"`
	Role   auth.Role  `json:"role" enum:"viewer,member,admin,owner"`
	Plan   string     `json:"plan" doc:"the plan's key; client for an org that an agency keeps"`

	StaffOf *id.ID `json:"staff_of,omitempty" format:"uuid" doc:"The agency on whose behalf one acts in its client's org"`
}

type keyName struct {
	ID   id.ID  `json:"id" format:"uuid"`
	Name string `json:"name"`
}

type meOut struct{ Body me }

func (a *App) mountMe() {
	route(a, op{Method: http.MethodGet, Path: "/api/v1/auth/me", Need: viewer, Tag: authTag, Title: "Who one is"}, a.me)
}

func (a *App) me(ctx context.Context, _ *struct{}) (*meOut, error) {
	w := who(ctx)
	return read(ctx, a, func(tx *postgres.Tx) (*meOut, error) {
		o, err := org.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		out := &meOut{me{Org: orgName{o.ID, o.Name}, Role: w.Role, Plan: o.Plan}}
		if w.IsKey() {
			k, err := org.OneKey(ctx, tx, w.Key)
			if err != nil {
				return nil, err
			}
			out.Body.APIKey = &keyName{k.ID, k.Name}
			return out, nil
		}
		home := w.Org
		if !w.Staff.IsZero() {
			home = w.Staff
			out.Body.StaffOf = &home
		}
		var m *org.Member
		err = tx.In(ctx, home, func() (err error) {
			m, err = org.OneMember(ctx, tx, w.User)
			return err
		})
		if err != nil {
			return nil, err
		}
		out.Body.User = &auth.User{ID: m.ID, Email: m.Email, FirstName: m.FirstName, LastName: m.LastName}
		return out, nil
	})
}
