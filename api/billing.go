package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

type changePlanIn struct {
	Body struct {
		Plan      string `json:"plan" minLength:"1" maxLength:"63" doc:"A plan's key"`
		Interval  string `json:"interval" enum:"month,year"`
		PreviewID *id.ID `json:"preview_id,omitempty" format:"uuid" doc:"What was shown: exactly that is charged, or nothing"`
		When      string `json:"when,omitempty" enum:"now,period_end" doc:"now for what is more, period_end for what is less, unless said. The first plan begins now"`
	}
}

type previewIn struct {
	Body struct {
		Plan     string `json:"plan" minLength:"1" maxLength:"63" doc:"A plan's key"`
		Interval string `json:"interval" enum:"month,year"`
		When     string `json:"when,omitempty" enum:"now,period_end" doc:"As in the change that is meant"`
	}
}

// ChangeID is the path of one change.
type ChangeID struct {
	ID id.ID `path:"id" format:"uuid"`
}

func (a *App) mountBilling() {
	writes := []string{"billing.settle", "plan.changed", "plan.settle"}
	for _, mount := range []struct {
		op
		handle func(context.Context, billing.Call) (*billing.Answer, error)
	}{
		{op{Path: "/billing/cancel", Title: "End the subscription when the paid period does", Secret: true}, func(ctx context.Context, call billing.Call) (*billing.Answer, error) {
			return a.Billing.Cancel(ctx, who(ctx).Org, call)
		}},
		{op{Path: "/billing/resume", Title: "Take a cancellation back", Secret: true}, func(ctx context.Context, call billing.Call) (*billing.Answer, error) {
			return a.Billing.Resume(ctx, who(ctx).Org, call)
		}},
	} {
		o := mount.op
		o.Method, o.Need, o.Part, o.Tag, o.Writes = http.MethodPost, owner, PartBilling, billingTag, writes
		route(a, o, func(ctx context.Context, _ *struct{}) (*changeOut, error) {
			return staged(ctx, a, func(call billing.Call) (*billing.Answer, error) { return mount.handle(ctx, call) }, showAnswer)
		})
	}
	route(a, op{Method: http.MethodPost, Path: "/billing/change-plan/preview", Need: owner, Part: PartBilling, Tag: billingTag, Title: "See what a change of plan costs"}, a.previewPlan)
	route(a, op{
		Method: http.MethodPost, Path: "/billing/change-plan", Need: owner, Part: PartBilling, Tag: billingTag, Title: "Change the plan", Also: []int{http.StatusAccepted}, Secret: true, Writes: writes,
	}, a.changePlan)
	route(a, op{
		Method: http.MethodPost, Path: "/billing/changes/{id}/undo", Need: owner, Part: PartBilling, Tag: billingTag,
		Title: "Undo a change that has not happened yet", Secret: true, Writes: writes,
	}, a.undoChange)
	route(a, op{Method: http.MethodGet, Path: "/billing/changes/{id}", Need: owner, Tag: billingTag, Title: "Read a change of plan and what happened to it"}, a.readChange)
	route(a, op{Method: http.MethodGet, Path: "/billing/subscription", Need: viewer, Tag: billingTag, Title: "Read the subscription"}, a.readSubscription)
	route(a, op{Method: http.MethodPost, Path: "/billing/portal", Need: owner, Part: PartBilling, Tag: billingTag, Title: "Get a link to the payment processor's portal", Secret: true}, a.portal)
}

func (a *App) previewPlan(ctx context.Context, in *previewIn) (*previewOut, error) {
	if out, err := replay[previewOut](ctx, a); out != nil || err != nil {
		return out, err
	}
	var out *previewOut
	_, err := a.Billing.Preview(ctx, who(ctx).Org, billing.Wish{Plan: in.Body.Plan, Interval: in.Body.Interval, When: in.Body.When},
		func(_ context.Context, tx *postgres.Tx, p *billing.Preview) error {
			out = showPreview(p)
			if r := requestOf(ctx); r.key != "" {
				return remember(tx, a, r, out)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *App) changePlan(ctx context.Context, in *changePlanIn) (*changeOut, error) {
	w := billing.Wish{Plan: in.Body.Plan, Interval: in.Body.Interval, When: in.Body.When, Preview: in.Body.PreviewID}
	return staged(ctx, a, func(call billing.Call) (*billing.Answer, error) { return a.Billing.Change(ctx, who(ctx).Org, w, call) }, showAnswer)
}

func (a *App) undoChange(ctx context.Context, in *ChangeID) (*changeOut, error) {
	return staged(ctx, a, func(call billing.Call) (*billing.Answer, error) {
		return a.Billing.Undo(ctx, who(ctx).Org, in.ID, call)
	}, showAnswer)
}

func (a *App) readChange(ctx context.Context, in *ChangeID) (*timelineOut, error) {
	return read(ctx, a, func(tx *postgres.Tx) (*timelineOut, error) {
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
	return read(ctx, a, func(tx *postgres.Tx) (*subscriptionOut, error) {
		s, err := billing.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return showSubscription(s), nil
	})
}

func (a *App) portal(ctx context.Context, _ *struct{}) (*portalOut, error) {
	if out, err := replay[portalOut](ctx, a); out != nil || err != nil {
		return out, err
	}
	url, err := a.Billing.Portal(ctx, who(ctx).Org, a.PublicURL)
	if err != nil {
		return nil, err
	}
	out := &portalOut{}
	out.Body.URL = url
	return store(ctx, a, out)
}
