package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
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

type mePatchIn struct {
	Body struct {
		FirstName optional[string] `json:"first_name" required:"false" doc:"At most 100 characters"`
		LastName  optional[string] `json:"last_name" required:"false" doc:"At most 100 characters"`
	}
}

func (a *App) mountMe() {
	route(a, op{Method: http.MethodGet, Path: "/api/v1/auth/me", Need: viewer, Tag: authTag, Title: "Who one is"}, a.me)
	route(a, op{
		Method: http.MethodPatch, Path: authPath + "me", Need: persons(auth.Viewer), Tag: authTag, Title: "Change one's own names", Open: true,
	}, a.patchMe)
}

func (a *App) me(ctx context.Context, _ *struct{}) (*meOut, error) {
	w := who(ctx)
	return read(ctx, a, func(tx *postgres.Tx) (*meOut, error) {
		o, err := org.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		out := &meOut{me{Org: orgName{ID: o.ID, Name: o.Name}, Role: w.Role, Plan: o.Plan}}
		if w.IsKey() {
			k, err := org.OneKey(ctx, tx, w.Key)
			if err != nil {
				return nil, refuseGone(err, fault.InvalidToken)
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
			return nil, refuseGone(err, fault.SessionEnded)
		}
		out.Body.User = &auth.User{ID: m.ID, Email: m.Email, FirstName: m.FirstName, LastName: m.LastName}
		return out, nil
	})
}

// refuseGone is err, or the refusal of a principal that has gone since the request was let in.
func refuseGone(err error, code fault.Code) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(code, "The caller has no place in this organization any more.")
	}
	return err
}

// patchMe changes the caller's names, which they have in all their orgs.
func (a *App) patchMe(ctx context.Context, in *mePatchIn) (*meOut, error) {
	first, last := in.Body.FirstName, in.Body.LastName
	if first.Null {
		return nil, notNull("first_name")
	}
	if last.Null {
		return nil, notNull("last_name")
	}
	if err := checkNames(first.Value, last.Value); err != nil {
		return nil, err
	}
	if err := a.Auth.Rename(ctx, who(ctx).User, first.Field, last.Field); err != nil {
		return nil, err
	}
	return a.me(ctx, nil)
}
