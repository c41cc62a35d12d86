package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

const (
	clientTag   = "Client orgs"
	clientsPath = "/api/v1/orgs/clients"
)

func (a *App) mountClients() {
	const one = clientsPath + "/{id}"
	settles := []string{entitlementsync.Kind.Name()}
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "client_orgs.list",
			Method: http.MethodGet,
			Path:   clientsPath,
			Need:   httpx.Viewer,
			Tag:    clientTag,
			Title:  "List client orgs",
		},
		a.listClients,
	)
	httpx.Route(a.Server, httpx.Op{
		ID:     "client_orgs.create",
		Method: http.MethodPost, Path: clientsPath, Need: httpx.Admin, Tag: clientTag, Title: "Create a client org",
		Status: http.StatusCreated,
		Secret: true, Writes: []string{mailsystem.Kind.Name(), quotaannounce.Kind.Name()},
	}, a.createClient)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "client_orgs.get",
			Method: http.MethodGet,
			Path:   one,
			Need:   httpx.Viewer,
			Tag:    clientTag,
			Title:  "Get a client org",
		},
		a.readClient,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "client_orgs.update",
			Method: http.MethodPatch, Path: one, Need: httpx.Admin, Tag: clientTag,
			Title: "Update a client org's name or features", Writes: settles,
		}, a.patchClient)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "client_orgs.pause",
			Method: http.MethodPost, Path: one + "/pause", Need: httpx.Admin, Tag: clientTag,
			Title: "Pause a client org, which makes it read-only",
		}, a.pauseClient)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "client_orgs.resume",
			Method: http.MethodPost, Path: one + "/resume", Need: httpx.Admin, Tag: clientTag,
			Title: "Resume a client org",
		}, a.resumeClient)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "client_orgs.detach",
			Method: http.MethodPost, Path: one + "/detach", Need: httpx.Owner, Tag: clientTag,
			Title: "Detach a client org from its agency", Writes: settles,
		}, a.detachClient)
	httpx.Route(a.Server, httpx.Op{
		ID:     "client_orgs.create_token",
		Method: http.MethodPost, Path: one + "/token", Need: httpx.Members(auth.Admin), Tag: clientTag,
		Title: "Act in a client org for 15 minutes", Secret: true,
	}, a.enterClient)
}

func showClient(ctx context.Context, a *App, tx *postgres.Tx, c *org.ClientOrg) (*clientOut, error) {
	out := &clientOut{
		Tagged: httpx.ETag(c.Edit, 0),
		Body:   clientOrgDetail{ClientOrg: *c, Features: map[string]featureValue{}},
	}
	return out, tx.In(ctx, c.ID, func() error {
		values, err := a.Plans.Allotted(ctx, tx)
		for name, v := range values {
			out.Body.Features[name] = featureValue{v}
		}
		return err
	})
}

func (a *App) listClients(ctx context.Context, in *httpx.PageInput) (*clientsOut, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*clientsOut, error) {
		rows, err := org.Clients(ctx, tx, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows, func(c org.ClientOrg) org.ClientOrg {
			return c
		}, func(c org.ClientOrg) id.ID { return c.ID })
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, org.CountClients)
		}

		return &clientsOut{l}, err
	})
}

func (a *App) readClient(ctx context.Context, in *ClientID) (*clientOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*clientOut, error) {
		c, err := org.Client(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showClient(ctx, a, tx, c)
	})
}

// createClient checks the agency's limit first, to avoid creating an org only to roll it back. The commit enforces the
// limit.
func (a *App) createClient(ctx context.Context, in *createClientOrgIn) (*newClientOut, error) {
	w := httpx.Who(ctx)
	b := &in.Body
	if b.OwnerEmail != "" {
		if w.IsKey() || !w.Staff.IsZero() {
			return nil,
				fault.New(fault.Forbidden,
					"API keys and staff may not manage members: a user of the organization must invite the owner.")
		}
		if err := auth.CheckEmail("owner_email", strings.TrimSpace(b.OwnerEmail)); err != nil {
			return nil, err
		}
	}

	by := w.User
	if w.IsKey() {
		by = w.Key
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*newClientOut, error) {
		if email := strings.TrimSpace(b.OwnerEmail); email != "" {
			org.AwaitInvitation(tx, auth.FoldEmail(email))
		}

		space, err := a.Plans.Room(ctx, tx, plans.Clients)
		if err != nil {
			return nil, err
		}
		if space.Left <= 0 {
			return nil, space.Full
		}

		c, err := org.AddClient(ctx, tx, b.Name, by)
		if err != nil {
			return nil, err
		}

		var invited invitedMember
		err = tx.In(ctx, c.ID, func() (err error) {
			if err := a.Plans.Join(ctx, tx); err != nil {
				return err
			}
			if err := a.writeAllocations(ctx, tx, b.Features); err != nil {
				return err
			}
			invited, err = a.inviteOwner(ctx, tx, b.OwnerEmail, c.Name, w)
			return err
		})
		if err != nil {
			return nil, err
		}

		shown, err := showClient(ctx, a, tx, c)
		if err != nil {
			return nil, err
		}

		return &newClientOut{
			Location: clientsPath + "/" + c.ID.String(), Tagged: shown.Tagged,
			Body: createdClientOrg{
				ClientOrg: shown.Body.ClientOrg, Features: shown.Body.Features, Mail: invited.Mail,
				AcceptURL: invited.AcceptURL,
			},
		}, nil
	})
}

// writeAllocations writes the client's allocations. tx belongs to the client org.
func (a *App) writeAllocations(ctx context.Context, tx *postgres.Tx, features map[string]any) error {
	if len(features) == 0 {
		return nil
	}

	raw := make(map[string]json.RawMessage, len(features))
	for name, v := range features {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		raw[name] = b
	}

	return a.Plans.Allot(ctx, tx, "features", raw)
}

// inviteOwner invites the owner of a new client, tx's org, and returns the invitation. The invitation counts against
// the agency's limit. Without an email it returns a zero invitation.
func (a *App) inviteOwner(ctx context.Context, tx *postgres.Tx, email, name string, by auth.Who) (invitedMember,
	error,
) {
	if email = strings.TrimSpace(email); email == "" {
		return invitedMember{}, nil
	}
	out, err := a.inviteTo(ctx, tx, org.Acting{User: by.User, IsOwner: true}, name, org.Invitation{
		Email: email, Role: string(auth.Owner), By: by.User, ChargedTo: by.Org,
	})
	if err != nil {
		return invitedMember{}, err
	}
	return out.Body, nil
}

func (a *App) patchClient(ctx context.Context, in *updateClientOrgIn) (*clientOut, error) {
	b := &in.Body
	if b.Name.Null {
		return nil, httpx.NotNullable("name")
	}
	if b.Features.Null {
		return nil, httpx.NotNullable("features")
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*clientOut, error) {
		c, err := org.LockClient(ctx, tx, in.ID, in.Check)
		if err != nil {
			return nil, err
		}
		if err := httpx.CheckUnchanged(c, map[string]httpx.Optional[string]{
			"id": b.ID, "status": b.Status, "created_by": b.CreatedBy, "created_at": b.CreatedAt,
			"updated_at": b.UpdatedAt, "paused_at": b.PausedAt,
		}); err != nil {
			return nil, err
		}

		renamed := b.Name.Set && b.Name.Value != c.Name
		if renamed {
			if err := org.RenameClient(ctx, tx, c, b.Name.Value); err != nil {
				return nil, err
			}
		}
		if len(b.Features.Value) > 0 {
			err := tx.In(ctx, c.ID, func() error { return a.patchAllocations(ctx, tx, b.Features.Value) })
			if err != nil {
				return nil, err
			}
		}
		if renamed || len(b.Features.Value) > 0 {
			org.TouchClient(ctx, tx, c, "client_org.updated",
				map[string]any{"name": c.Name, "features": b.Features.Value})
		}

		return showClient(ctx, a, tx, c)
	})
}

// patchAllocations is writeAllocations for a merge patch, in which null removes an allocation.
func (a *App) patchAllocations(ctx context.Context, tx *postgres.Tx, features map[string]any) error {
	raw := make(map[string]json.RawMessage, len(features))
	for name, v := range features {
		if v == nil {
			raw[name] = nil
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		raw[name] = b
	}

	return a.Plans.Allot(ctx, tx, "features", raw)
}

func (a *App) pauseClient(ctx context.Context, in *ClientID) (*clientOut, error) {
	return a.setPause(ctx, in.ID, true)
}

func (a *App) resumeClient(ctx context.Context, in *ClientID) (*clientOut, error) {
	return a.setPause(ctx, in.ID, false)
}

func (a *App) setPause(ctx context.Context, client id.ID, pause bool) (*clientOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*clientOut, error) {
		c, err := org.LockClient(ctx, tx, client, func(int64) error { return nil })
		if err != nil {
			return nil, err
		}
		if _, err := org.PauseClient(ctx, tx, c, pause); err != nil {
			return nil, err
		}
		return showClient(ctx, a, tx, c)
	})
}

func (a *App) detachClient(ctx context.Context, in *ClientID) (*clientOut, error) {
	agency := httpx.Who(ctx).Org
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*clientOut, error) {
		c, err := org.LockClient(ctx, tx, in.ID, func(int64) error { return nil })
		if err != nil {
			return nil, err
		}
		if err := org.DetachClient(ctx, tx, c); err != nil {
			return nil, err
		}

		err = tx.In(ctx, c.ID, func() error {
			auth.Withdraw(tx, agency)
			return a.Plans.Leave(ctx, tx, a.TrialDays)
		})
		if err != nil {
			return nil, err
		}

		return showClient(ctx, a, tx, c)
	})
}
