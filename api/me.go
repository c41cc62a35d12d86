package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// me describes the caller as the service sees it.
type me struct {
	User   *auth.User  `json:"user,omitempty" doc:"The user; absent for an API key"`
	APIKey *apiKeyName `json:"api_key,omitempty" doc:"The API key; absent for a user"`
	Org    orgName     `json:"org" doc:"The organization in which the caller acts"`
	Role   auth.Role   `json:"role" enum:"viewer,member,admin,owner"`
	Plan   string      `json:"plan" doc:"The plan's key; client for an agency's client org"`

	StaffOf *id.ID `json:"staff_of,omitempty" format:"uuid" doc:"The agency of the staff acting in this client org"`
}

// Descriptions implements wire.Describer.
func (me) Descriptions() map[string]string {
	return map[string]string{
		"role": "The caller's role in that organization, of the user or the API key",
	}
}

type apiKeyName struct {
	ID   id.ID  `json:"id" format:"uuid" doc:"ID of the API key, not the key itself"`
	Name string `json:"name" doc:"Name that the key was given"`
}

type meOut struct{ Body me }

type updateMeIn struct {
	Body struct {
		FirstName httpx.Optional[string] `json:"first_name" required:"false" doc:"At most 100 characters"`
		LastName  httpx.Optional[string] `json:"last_name" required:"false" doc:"At most 100 characters"`
	}
}

func (a *App) mountMe() {
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "me.get",
			Method: http.MethodGet,
			Path:   "/api/v1/auth/me",
			Need:   httpx.Viewer,
			Tag:    authTag,
			Title:  "Get the caller",
		},
		a.showCaller,
	)
	httpx.Route(a.Server, httpx.Op{
		ID:     "me.update",
		Method: http.MethodPatch, Path: authPath + "me", Need: httpx.Persons(auth.Viewer), Tag: authTag,
		Title: "Change your own names", Open: true,
	}, a.patchMe)
}

func (a *App) showCaller(ctx context.Context, _ *struct{}) (*meOut, error) {
	w := httpx.Who(ctx)
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*meOut, error) {
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
			out.Body.APIKey = &apiKeyName{k.ID, k.Name}
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

// refuseGone returns err, or an error with code if the principal was removed after the request was admitted.
func refuseGone(err error, code fault.Code) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(code, "The caller no longer has access to this organization.")
	}
	return err
}

// patchMe changes the caller's names, which are the same in all the caller's orgs.
func (a *App) patchMe(ctx context.Context, in *updateMeIn) (*meOut, error) {
	first, last := in.Body.FirstName, in.Body.LastName
	if first.Null {
		return nil, httpx.NotNullable("first_name")
	}
	if last.Null {
		return nil, httpx.NotNullable("last_name")
	}
	if err := checkNames(first.Value, last.Value); err != nil {
		return nil, err
	}
	if err := a.Auth.Rename(ctx, httpx.Who(ctx).User, first.Field, last.Field); err != nil {
		return nil, err
	}

	return a.showCaller(ctx, nil)
}
