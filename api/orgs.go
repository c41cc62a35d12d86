package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const orgTag = "Organization"

type orgOut struct {
	httpx.Tagged
	Body org.Org
}

// updateOrgRequest has the members that may change, and the read-only members which a caller may send back unchanged.
type updateOrgRequest struct {
	Name      httpx.Optional[string]         `json:"name" required:"false" maxLength:"200"`
	Settings  httpx.Optional[map[string]any] `json:"settings" required:"false"`
	ID        httpx.Optional[string]         `json:"id" required:"false"`
	Plan      httpx.Optional[string]         `json:"plan" required:"false"`
	CreatedAt httpx.Optional[string]         `json:"created_at" required:"false"`
	UpdatedAt httpx.Optional[string]         `json:"updated_at" required:"false"`
}

// Descriptions implements wire.Describer.
func (updateOrgRequest) Descriptions() map[string]string {
	return map[string]string{
		"settings":   "Merged per member. stages and time_zone are validated, other members are free; 16 KiB in total",
		"name":       "New name: 1 to 200 characters, not null",
		"id":         "Read-only: only the current value is accepted",
		"plan":       "Read-only here: the plan changes by /billing/change-plan",
		"created_at": "Read-only: only the current value is accepted",
		"updated_at": "Read-only: only the current value is accepted",
	}
}

type orgPatchIn struct {
	httpx.IfMatch
	Body updateOrgRequest
}

func (a *App) mountOrg() {
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "org.get",
			Method: http.MethodGet,
			Path:   "/api/v1/org",
			Need:   httpx.Viewer,
			Tag:    orgTag,
			Title:  "Get the org",
		},
		a.readOrg,
	)
	httpx.Route(a.Server, httpx.Op{
		ID:     "org.update",
		Method: http.MethodPatch, Path: "/api/v1/org", Need: httpx.Admin, Tag: orgTag,
		Title:  "Change the org's name or settings",
		Writes: []string{"organization.updated"},
	}, a.patchOrg)
}

func showOrg(o *org.Org) *orgOut { return &orgOut{Tagged: httpx.ETag(o.Edit, o.Computed), Body: *o} }

func (a *App) readOrg(ctx context.Context, _ *struct{}) (*orgOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*orgOut, error) {
		o, err := org.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return showOrg(o), nil
	})
}

func (a *App) patchOrg(ctx context.Context, in *orgPatchIn) (*orgOut, error) {
	b := &in.Body
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*orgOut, error) {
		now, err := org.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		if err := httpx.CheckUnchanged(now,
			map[string]httpx.Optional[string]{
				"id": b.ID, "plan": b.Plan, "created_at": b.CreatedAt,
				"updated_at": b.UpdatedAt,
			}); err != nil {
			return nil, err
		}

		o, err := org.Update(ctx, tx, org.Patch{Name: b.Name.Field, Settings: b.Settings.Field}, in.Check)
		if err != nil {
			return nil, err
		}
		if err := followStages(ctx, tx, now, o); err != nil {
			return nil, err
		}
		if o.Name != now.Name && !o.Agency.IsZero() {
			if err := org.TellAgency(ctx, tx, o); err != nil {
				return nil, err
			}
		}

		return showOrg(o), nil
	})
}
