package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

const (
	hooksPath      = "/api/v1/webhooks"
	deliveriesPath = "/api/v1/webhook-deliveries"
)

func (a *App) mountWebhooks() {
	quota := []string{quotaannounce.Kind.Name()}
	const tag, hook = "Webhooks", hooksPath + "/{id}"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhooks.create",
			Method: http.MethodPost, Path: hooksPath, Need: httpx.Admin, Tag: tag, Title: "Create a webhook",
			Status: http.StatusCreated, Secret: true, Writes: quota,
		}, a.createHook)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "webhooks.list",
			Method: http.MethodGet,
			Path:   hooksPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List webhooks",
		},
		a.listHooks,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "webhooks.get",
			Method: http.MethodGet,
			Path:   hook,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a webhook",
		},
		a.getHook,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "webhooks.update",
			Method: http.MethodPatch,
			Path:   hook,
			Need:   httpx.Admin,
			Tag:    tag,
			Title:  "Update a webhook",
		},
		a.patchHook,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhooks.archive",
			Method: http.MethodDelete, Path: hook, Need: httpx.Admin, Tag: tag, Title: "Archive a webhook",
			Status: http.StatusNoContent,
		}, a.archiveHook)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhooks.restore",
			Method: http.MethodPost, Path: hook + "/restore", Need: httpx.Admin, Tag: tag,
			Title: "Restore an archived webhook", Writes: quota,
		}, a.restoreHook)
	httpx.Route(a.Server, httpx.Op{
		ID:     "webhooks.test",
		Method: http.MethodPost, Path: hook + "/test", Need: httpx.Admin, Tag: tag, Title: "Send a sample event",
		Status: http.StatusAccepted, Writes: []string{events.DeliverKind},
	}, a.testHook)
	httpx.Route(a.Server, httpx.Op{
		ID:     "webhooks.rotate_secret",
		Method: http.MethodPost, Path: hook + "/rotate-secret", Need: httpx.Admin, Tag: tag,
		Title: "Rotate a webhook's secret", Secret: true,
	}, a.rotateSecret)
	httpx.Route(a.Server, httpx.Op{
		ID:     "webhooks.replay",
		Method: http.MethodPost, Path: hook + "/replay", Need: httpx.Admin, Tag: tag,
		Title: "Replay a range of events", Status: http.StatusAccepted,
		Writes: []string{webhookreplay.Kind.Name()},
	}, a.replayHook)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhooks.get_replay",
			Method: http.MethodGet, Path: hook + "/replays/{replay}", Need: httpx.Viewer, Tag: tag,
			Title: "Get a replay's progress",
		}, a.getReplay)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhooks.list_deliveries",
			Method: http.MethodGet, Path: hook + "/deliveries", Need: httpx.Viewer, Tag: tag,
			Title: "List a webhook's deliveries",
		}, a.listDeliveries)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhook_deliveries.list",
			Method: http.MethodGet, Path: deliveriesPath, Need: httpx.Viewer, Tag: tag,
			Title: "List the deliveries of all webhooks, newest first",
		}, a.listAllDeliveries)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "webhook_deliveries.get",
			Method: http.MethodGet, Path: deliveriesPath + "/{id}", Need: httpx.Viewer, Tag: tag,
			Title: "Get a delivery with its attempts",
		}, a.getDelivery)
	httpx.Route(a.Server, httpx.Op{
		ID:     "webhook_deliveries.redeliver",
		Method: http.MethodPost, Path: deliveriesPath + "/{id}/redeliver", Need: httpx.Admin, Tag: tag,
		Title: "Redeliver a delivery's event", Status: http.StatusAccepted,
		Writes: []string{events.DeliverKind},
	}, a.redeliverEvent)
}

// HookID is the path parameter of one webhook.
type HookID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the webhook, or of the delivery on delivery paths"`
}

type hookOut struct {
	httpx.Tagged
	Body webhooks.Endpoint
}

func hookAnswer(v webhooks.Versioned) *hookOut {
	return &hookOut{Tagged: httpx.ETag(v.Edit, v.Computed), Body: v.Endpoint}
}

type createWebhookRequest struct {
	URL         string   `json:"url" doc:"A public https address that takes POST requests"`
	Events      []string `json:"events" nullable:"false" doc:"Event types, or [\"*\"] for all"`
	Secret      *string  `json:"secret,omitempty" doc:"16 to 128 characters to sign deliveries; generated if absent"`
	Description *string  `json:"description,omitempty" nullable:"true" doc:"Free text, at most 500 characters"`
	RateLimit   *int     `json:"rate_limit,omitempty" nullable:"true"`
	Enabled     *bool    `json:"enabled,omitempty" doc:"Whether events are delivered; default true"`
}

// Descriptions implements wire.Describer.
func (createWebhookRequest) Descriptions() map[string]string {
	return map[string]string{
		"rate_limit": "Deliveries per second, 1 to 10000; null or absent: no limit",
	}
}

// createdWebhook is the response to the creation of a webhook. Only it and the response to a rotation show the secret.
type createdWebhook struct {
	webhooks.Endpoint
	Secret string `json:"secret" doc:"Shown only once; store it to verify signatures"`
}

type createHookOut struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the webhook"`
	Body     createdWebhook
}

func (a *App) createHook(ctx context.Context, in *struct{ Body createWebhookRequest }) (*createHookOut, error) {
	n := webhooks.New{URL: in.Body.URL, Events: in.Body.Events, RateLimit: in.Body.RateLimit, Enabled: true}
	if in.Body.Description != nil {
		n.Description = *in.Body.Description
	}
	if in.Body.Enabled != nil {
		n.Enabled = *in.Body.Enabled
	}
	if in.Body.Secret != nil {
		if n.Secret = *in.Body.Secret; n.Secret == "" {
			return nil, fault.Invalid("secret", "invalid_length", "A secret has 16 to 128 characters.")
		}
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*createHookOut, error) {
		v, shown, err := a.Hooks.Create(ctx, tx, n)
		if err != nil {
			return nil, err
		}
		auditHook(ctx, tx, "webhook.created", v.ID)
		return &createHookOut{
			Tagged: httpx.ETag(v.Edit, v.Computed), Location: hooksPath + "/" + v.ID.String(),
			Body: createdWebhook{v.Endpoint, shown},
		}, nil
	})
}

type listHooksIn struct {
	httpx.Page
	Archived bool   `query:"archived" doc:"List archived webhooks instead of live ones"`
	Count    string `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (listHooksIn) Descriptions() map[string]string {
	return map[string]string{
		"count": "Add total, the number of webhooks; both values count exactly",
	}
}

func (a *App) listHooks(ctx context.Context, in *listHooksIn) (*struct {
	Body httpx.List[webhooks.Endpoint]
}, error,
) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*struct{ Body httpx.List[webhooks.Endpoint] }, error) {
		rows, err := a.Hooks.List(ctx, tx, orZero(before), in.Limit+1, in.Archived)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(v webhooks.Versioned) webhooks.Endpoint { return v.Endpoint }, func(v webhooks.Versioned) id.ID {
				return v.ID
			})
		if err == nil && in.Count != "" {
			l.Total, err = a.Hooks.Count(ctx, tx, in.Archived)
		}

		return &struct{ Body httpx.List[webhooks.Endpoint] }{l}, err
	})
}

type getHookIn struct {
	HookID
	Archived bool `query:"include_archived" doc:"Also return an archived webhook"`
}

func (a *App) getHook(ctx context.Context, in *getHookIn) (*hookOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*hookOut, error) {
		v, err := a.Hooks.Get(ctx, tx, in.ID, in.Archived)
		if err != nil {
			return nil, err
		}
		return hookAnswer(v), nil
	})
}

type updateWebhookRequest struct {
	URL         httpx.Optional[string]   `json:"url" required:"false" doc:"A public https address; not null"`
	Events      httpx.Optional[[]string] `json:"events" required:"false"`
	Description httpx.Optional[string]   `json:"description" required:"false"`
	RateLimit   httpx.Optional[int]      `json:"rate_limit" required:"false"`
	Enabled     httpx.Optional[bool]     `json:"enabled" required:"false"`

	ID             httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	DisabledReason httpx.RawJSON `json:"disabled_reason" required:"false" readOnly:"true"`
	CreatedAt      httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt      httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt     httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (updateWebhookRequest) Descriptions() map[string]string {
	return map[string]string{
		"events":      "Event types, or * alone for all; replaces the list, not null",
		"description": "At most 500 characters; null or empty removes it",
		"rate_limit":  "Deliveries per second, 1 to 10000; null: no limit",
		"enabled":     "false stops deliveries; true starts them again and clears disabled_reason",
	}
}

// readOnly returns an error for read-only members, unless they equal the current values.
func (p *updateWebhookRequest) readOnly(e webhooks.Endpoint) error {
	return httpx.CheckUnchangedJSON(e, map[string]httpx.RawJSON{
		"id": p.ID, "disabled_reason": p.DisabledReason, "created_at": p.CreatedAt, "updated_at": p.UpdatedAt,
		"archived_at": p.ArchivedAt,
	})
}

type patchHookIn struct {
	HookID
	httpx.IfMatch
	Body updateWebhookRequest
}

func (a *App) patchHook(ctx context.Context, in *patchHookIn) (*hookOut, error) {
	p := webhooks.Patch{
		URL: in.Body.URL.Field, Events: in.Body.Events.Field, Description: in.Body.Description.Field,
		RateLimit: in.Body.RateLimit.Field, Enabled: in.Body.Enabled.Field,
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*hookOut, error) {
		before := 0
		v, err := a.Hooks.Update(ctx, tx, in.ID, p, func(v webhooks.Versioned) error {
			before = v.Edit
			if err := in.Check(int64(v.Edit)); err != nil {
				return err
			}
			return in.Body.readOnly(v.Endpoint)
		})
		if err != nil {
			return nil, err
		}
		if v.Edit != before {
			auditHook(ctx, tx, "webhook.updated", v.ID)
		}

		return hookAnswer(v), nil
	})
}

type archiveHookIn struct {
	HookID
	httpx.IfMatch
}

func (a *App) archiveHook(ctx context.Context, in *archiveHookIn) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		return &struct{}{}, a.Hooks.Archive(ctx, tx, in.ID, func(v webhooks.Versioned) error {
			auditHook(ctx, tx, "webhook.archived", v.ID)
			return in.Check(int64(v.Edit))
		})
	})
}

func (a *App) restoreHook(ctx context.Context, in *HookID) (*hookOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*hookOut, error) {
		v, changed, err := a.Hooks.Restore(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		if changed {
			auditHook(ctx, tx, "webhook.restored", v.ID)
		}
		return hookAnswer(v), nil
	})
}

type testWebhookIn struct {
	HookID
	Body struct {
		Type string `json:"type" doc:"Any event type of GET /api/v1/event-types, live or reserved"`
	}
}

type testHookOut struct {
	Location string `header:"Location" doc:"Address of the delivery"`
	Body     webhooks.Delivery
}

func (a *App) testHook(ctx context.Context, in *testWebhookIn) (*testHookOut, error) {
	t, ok := events.Lookup(in.Body.Type)
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*testHookOut, error) {
		if !ok {
			if _, err := a.Hooks.Get(ctx, tx, in.ID, false); err != nil {
				return nil, err
			}
			return nil, fault.Invalid("type", "unknown_event_type", events.Unknown(in.Body.Type))
		}

		d, err := a.Hooks.SendTest(ctx, tx, in.ID, t)
		if err != nil {
			return nil, err
		}

		return &testHookOut{Location: deliveriesPath + "/" + d.ID.String(), Body: d}, nil
	})
}

type deliveryOut struct {
	httpx.Tagged
	Body webhooks.Delivery
}

func (a *App) getDelivery(ctx context.Context, in *HookID) (*deliveryOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*deliveryOut, error) {
		d, err := a.Hooks.GetDelivery(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		// A delivery is never edited, so only attempts and the final state change the tag's second number.
		return &deliveryOut{Tagged: httpx.ETag(1, d.UpdatedAt.UnixMicro()), Body: d}, nil
	})
}

// auditHook writes an audit log entry for a new secret or a changed destination of events.
func auditHook(ctx context.Context, tx *postgres.Tx, action string, hook id.ID) {
	org.Audit(ctx, tx, org.Entry{Action: action, Target: "webhook", ID: hook.String()})
}
