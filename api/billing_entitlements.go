package api

import (
	"context"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// entitlement is an org's right to one feature.
type entitlement struct {
	Type      plans.Type   `json:"type" enum:"boolean,limit,text"`
	Value     featureValue `json:"value" doc:"true or false, a number, null for no limit, or text"`
	Used      *int64       `json:"used,omitempty" doc:"Current usage; only for a limit that is counted"`
	OverLimit bool         `json:"over_limit,omitempty" doc:"Over the limit: nothing is removed, nothing can be added"`
	Source    plans.Source `json:"source" enum:"free,plan,addon,override,agency,allocation"`
	ResetsAt  *wire.Time   `json:"resets_at,omitempty" format:"date-time" doc:"When usage is reset to 0"`
}

// Descriptions implements wire.Describer.
func (entitlement) Descriptions() map[string]string {
	return map[string]string{
		"type":   "Type of value: boolean, limit (a number, or null for no limit) or text",
		"source": "Where the value comes from",
	}
}

type entitlements struct {
	Plan string `json:"plan" doc:"The plan's key; client for an agency's client org"`

	Status plans.Status `json:"status" enum:"trialing,trial_ended,active,past_due,incomplete,unpaid,canceled,paused"`

	Version  int64                  `json:"entitlement_version" doc:"Changes whenever a value changes"`
	Features map[string]entitlement `json:"features" nullable:"false" doc:"Every feature of the plans table"`
}

// Descriptions implements wire.Describer.
func (entitlements) Descriptions() map[string]string {
	return map[string]string{
		"status": "State of the subscription. trial_ended: writes are refused with 402 trial_ended until a " +
			"plan is chosen",
	}
}

type entitlementsOut struct{ Body entitlements }

func (a *App) mountEntitlements() {
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "billing.get_entitlements",
			Method: http.MethodGet, Path: "/billing/my-entitlements", Need: httpx.Viewer, Tag: billingTag,
			Title: "Get the org's entitlements",
		}, a.myEntitlements)
}

func (a *App) myEntitlements(ctx context.Context, _ *struct{}) (*entitlementsOut, error) {
	now, err := a.Plans.Of(ctx, httpx.Who(ctx).Org)
	if err != nil {
		return nil, err
	}
	return &entitlementsOut{showEntitlements(now)}, nil
}

func showEntitlements(now *plans.Entitlements) entitlements {
	e := entitlements{
		Plan: now.Plan, Status: now.Status, Version: now.Version,
		Features: make(map[string]entitlement, len(now.Features)),
	}

	for key, right := range now.Features {
		one := entitlement{Type: right.Value.Type, Value: featureValue{right.Value}, Source: right.Source}
		if used, ok := now.Used[key]; ok {
			one.Used = &used
			if key == plans.AITokens || key == plans.EmailsMonth {
				resets := wire.At(ai.ResetsAt(time.Now()))
				one.ResetsAt = &resets
			}
			one.OverLimit = used > right.Value.Max && (key != plans.Clients && key != plans.EmailsMonth || !now.Overage)
		}
		e.Features[key] = one
	}

	return e
}
