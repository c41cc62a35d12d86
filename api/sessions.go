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

type sessionsOut struct{ Body httpx.List[auth.OpenSession] }

// SessionID is the path parameter of a session. It is exported because huma ignores unexported embedded types.
type SessionID struct {
	ID id.ID `path:"id" format:"uuid" doc:"Claim sid of the session's access tokens"`
}

type myOrgsOut struct{ Body httpx.List[auth.Membership] }

type switchOrgIn struct {
	Body switchOrgRequest
}

type switchOrgRequest struct {
	OrgID string `json:"org_id" format:"uuid" doc:"One of your organizations"`
}

func (a *App) mountSessions() {
	const sessions = authPath + "sessions"
	httpx.Route(a.Server, httpx.Op{
		ID:     "sessions.list",
		Method: http.MethodGet, Path: sessions, Need: httpx.Members(auth.Viewer), Tag: authTag,
		Title: "List your open sessions, newest first",
	}, a.listSessions)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sessions.end",
		Method: http.MethodDelete, Path: sessions + "/{id}", Need: httpx.Members(auth.Viewer), Tag: authTag,
		Title: "End one of your sessions", Status: http.StatusNoContent, Open: true,
	}, a.endSession)
	httpx.Route(a.Server, httpx.Op{
		ID:     "me.list_orgs",
		Method: http.MethodGet, Path: authPath + "orgs", Need: httpx.Persons(auth.Viewer), Tag: authTag,
		Title: "List your organizations",
	}, a.myOrgs)
	httpx.Route(a.Server, httpx.Op{
		ID:     "auth.switch_org",
		Method: http.MethodPost, Path: authPath + "switch", Need: httpx.Members(auth.Viewer), Tag: authTag,
		Title: "Start a session in another of your organizations", Secret: true, Open: true,
	}, a.switchOrg)
}

func (a *App) listSessions(ctx context.Context, in *struct{ httpx.Page }) (*sessionsOut, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	rows, err := a.Auth.Sessions(ctx, httpx.Who(ctx), orZero(from), in.Limit+1)
	if err != nil {
		return nil, err
	}

	l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
		func(s auth.OpenSession) auth.OpenSession { return s }, func(s auth.OpenSession) id.ID { return s.ID })
	return &sessionsOut{l}, err
}

func (a *App) endSession(ctx context.Context, in *SessionID) (*nothing, error) {
	w := httpx.Who(ctx)
	return &nothing{}, a.Auth.EndSession(ctx, w.User, in.ID, func(tx *postgres.Tx) error {
		org.Audit(ctx, tx, org.Entry{Action: "session.ended", Target: "session", ID: in.ID.String()})
		return nil
	})
}

func (a *App) myOrgs(ctx context.Context, in *struct{ httpx.Page }) (*myOrgsOut, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	rows, err := a.Auth.Orgs(ctx, httpx.Who(ctx).User, orZero(from), in.Limit+1)
	if err != nil {
		return nil, err
	}

	l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
		func(m auth.Membership) auth.Membership { return m }, func(m auth.Membership) id.ID { return m.ID })
	return &myOrgsOut{l}, err
}

func (a *App) switchOrg(ctx context.Context, in *switchOrgIn) (*tokenOut, error) {
	at, err := id.Parse(in.Body.OrgID)
	if err != nil {
		return nil, fault.Invalid("org_id", "invalid_format", "Want a UUID.")
	}
	s, err := a.Auth.Switch(ctx, httpx.Who(ctx), at, httpx.DeviceOf(ctx))
	if err != nil {
		return nil, err
	}
	return sessionResponse(ctx, s), nil
}
