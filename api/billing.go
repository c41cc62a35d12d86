package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

type changePlanIn struct {
	Body struct {
		Plan      string `json:"plan" minLength:"1" maxLength:"63" doc:"A plan's key"`
		Interval  string `json:"interval" enum:"month,year" doc:"Billing interval of the new plan"`
		PreviewID *id.ID `json:"preview_id,omitempty" format:"uuid" doc:"Preview: its exact amount is charged or none"`
		When      string `json:"when,omitempty" enum:"now,period_end"`
	}
}

// Descriptions implements wire.Describer.
func (changePlanIn) Descriptions() map[string]string {
	return map[string]string{
		"when": "Default: now for an upgrade, period_end for a downgrade. A first plan always starts now",
	}
}

type previewPlanChangeIn struct {
	Body struct {
		Plan     string `json:"plan" minLength:"1" maxLength:"63" doc:"A plan's key"`
		Interval string `json:"interval" enum:"month,year" doc:"Billing interval of the intended plan"`
		When     string `json:"when,omitempty" enum:"now,period_end" doc:"As in the intended change"`
	}
}

// ChangeID is the path parameter of one plan change.
type ChangeID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the plan change, as change-plan returned it"`
}

func (a *App) mountBilling() {
	writes := []string{"billing.settle", "plan.changed", entitlementsync.Kind.Name()}
	for _, mount := range []struct {
		httpx.Op
		handle func(context.Context, change.Call) (*change.Answer, error)
	}{
		{
			httpx.Op{
				ID: "billing.cancel", Path: "/billing/cancel", Secret: true,
				Title: "Cancel the subscription at the end of the paid period",
			},
			func(ctx context.Context, call change.Call) (*change.Answer, error) {
				return a.changes.Cancel(ctx, httpx.Who(ctx).Org, call)
			},
		},
		{
			httpx.Op{ID: "billing.resume", Path: "/billing/resume", Title: "Undo a cancellation", Secret: true},
			func(ctx context.Context, call change.Call) (*change.Answer, error) {
				return a.changes.Resume(ctx, httpx.Who(ctx).Org, call)
			},
		},
	} {
		o := mount.Op
		o.Method = http.MethodPost
		o.Need = httpx.Owner
		o.Part = httpx.PartBilling
		o.Tag = billingTag
		o.Writes = writes
		httpx.Route(a.Server, o, func(ctx context.Context, _ *struct{}) (*changeOut, error) {
			return twoPhaseWrite(ctx, a, func(call change.Call) (*change.Answer, error) {
				return mount.handle(ctx, call)
			}, showAnswer)
		})
	}

	httpx.Route(a.Server,
		httpx.Op{
			ID:     "billing.preview_plan_change",
			Method: http.MethodPost, Path: "/billing/change-plan/preview", Need: httpx.Owner, Part: httpx.PartBilling,
			Tag: billingTag, Title: "Preview the cost of a plan change",
		}, a.previewPlan)
	httpx.Route(a.Server, httpx.Op{
		ID:     "billing.change_plan",
		Method: http.MethodPost,
		Path:   "/billing/change-plan",
		Need:   httpx.Owner,
		Part:   httpx.PartBilling,
		Tag:    billingTag,
		Title:  "Change the plan",
		Also:   []int{http.StatusAccepted},
		Secret: true,
		Writes: writes,
	}, a.changePlan)
	httpx.Route(a.Server, httpx.Op{
		ID:     "billing.undo_change",
		Method: http.MethodPost,
		Path:   "/billing/changes/{id}/undo",
		Need:   httpx.Owner,
		Part:   httpx.PartBilling,
		Tag:    billingTag,
		Title:  "Cancel a plan change that has not taken effect",
		Secret: true,
		Writes: writes,
	}, a.undoChange)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "billing.get_change",
			Method: http.MethodGet, Path: "/billing/changes/{id}", Need: httpx.Owner, Tag: billingTag,
			Title: "Get a plan change and its history",
		}, a.readChange)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "billing.get_subscription",
			Method: http.MethodGet, Path: "/billing/subscription", Need: httpx.Viewer, Tag: billingTag,
			Title: "Get the subscription",
		}, a.readSubscription)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "billing.create_portal_link",
			Method: http.MethodPost,
			Path:   "/billing/portal",
			Need:   httpx.Owner,
			Part:   httpx.PartBilling,
			Tag:    billingTag,
			Title:  "Get a link to the payment processor's portal",
			Secret: true,
		}, a.createPortalLink)
}

func (a *App) previewPlan(ctx context.Context, in *previewPlanChangeIn) (*planChangePreviewOut, error) {
	if out, err := findStoredResponse[planChangePreviewOut](ctx, a); out != nil || err != nil {
		return out, err
	}

	var out *planChangePreviewOut
	_, err := a.changes.Preview(ctx, httpx.Who(ctx).Org,
		change.Request{Plan: in.Body.Plan, Interval: in.Body.Interval, When: in.Body.When},
		func(_ context.Context, tx *postgres.Tx, p *change.Preview) error {
			out = showPreview(p)
			if r := httpx.RequestOf(ctx); r.Key != "" {
				return httpx.StoreResponse(tx, a.Server, r, out)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}

	return out, nil
}

func (a *App) changePlan(ctx context.Context, in *changePlanIn) (*changeOut, error) {
	w := change.Request{
		Plan: in.Body.Plan, Interval: in.Body.Interval, When: in.Body.When,
		Preview: in.Body.PreviewID,
	}
	return twoPhaseWrite(ctx, a, func(call change.Call) (*change.Answer, error) {
		return a.changes.Change(ctx, httpx.Who(ctx).Org, w, call)
	}, showAnswer)
}

func (a *App) undoChange(ctx context.Context, in *ChangeID) (*changeOut, error) {
	return twoPhaseWrite(ctx, a, func(call change.Call) (*change.Answer, error) {
		return a.changes.Undo(ctx, httpx.Who(ctx).Org, in.ID, call)
	}, showAnswer)
}

func (a *App) readChange(ctx context.Context, in *ChangeID) (*planChangeDetailOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*planChangeDetailOut, error) {
		c, err := billing.One(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		steps, err := billing.Steps(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showTimeline(c, steps), nil
	})
}

func (a *App) readSubscription(ctx context.Context, _ *struct{}) (*subscriptionOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*subscriptionOut, error) {
		s, err := billing.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return showSubscription(s), nil
	})
}

func (a *App) createPortalLink(ctx context.Context, _ *struct{}) (*portalLinkOut, error) {
	if out, err := findStoredResponse[portalLinkOut](ctx, a); out != nil || err != nil {
		return out, err
	}
	url, err := a.changes.Portal(ctx, httpx.Who(ctx).Org, a.PublicURL)
	if err != nil {
		return nil, err
	}
	out := &portalLinkOut{}
	out.Body.URL = url
	return storeResponse(ctx, a, out)
}
