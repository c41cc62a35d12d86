package api

import (
	"context"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// entitlement is what an org may do with one feature.
type entitlement struct {
	Type      plans.Type   `json:"type" enum:"boolean,limit,text"`
	Value     featureValue `json:"value" doc:"true or false, a number or null for no limit, or a word"`
	Used      *int64       `json:"used,omitempty" doc:"Of a limit that is counted"`
	OverLimit bool         `json:"over_limit,omitempty" doc:"More is used than the limit allows: nothing is taken away, and nothing can be added"`
	Source    plans.Source `json:"source" enum:"free,plan,addon,override,agency,allocation" doc:"Where the value comes from"`
	ResetsAt  *wire.Time   `json:"resets_at,omitempty" format:"date-time" doc:"When what is used begins again at 0"`
}

type entitlements struct {
	Plan     string                 `json:"plan" doc:"The plan's key; client for an org that an agency keeps"`
	Status   plans.Status           `json:"status" enum:"trialing,trial_ended,active,past_due,incomplete,unpaid,canceled,paused"`
	Version  int64                  `json:"entitlement_version" doc:"Moves with whatever changes the values"`
	Features map[string]entitlement `json:"features" nullable:"false" doc:"Every feature of the table of plans"`
}

type entitlementsOut struct{ Body entitlements }

func (a *App) mountEntitlements() {
	route(a, op{Method: http.MethodGet, Path: "/billing/my-entitlements", Need: viewer, Tag: billingTag, Title: "Read what the org may use"}, a.myEntitlements)
}

func (a *App) myEntitlements(ctx context.Context, _ *struct{}) (*entitlementsOut, error) {
	now, err := a.Plans.Of(ctx, who(ctx).Org)
	if err != nil {
		return nil, err
	}
	return &entitlementsOut{showEntitlements(now)}, nil
}

func showEntitlements(now *plans.Standing) entitlements {
	e := entitlements{Plan: now.Plan, Status: now.Status, Version: now.Version, Features: make(map[string]entitlement, len(now.Features))}
	for key, right := range now.Features {
		one := entitlement{Type: right.Value.Type, Value: featureValue{right.Value}, Source: right.Source}
		if used, ok := now.Used[key]; ok {
			one.Used = &used
			if key == plans.AITokens {
				resets := wire.At(ai.ResetsAt(time.Now()))
				one.ResetsAt = &resets
			}
			one.OverLimit = used > right.Value.Max && (key != plans.Clients || !now.Overage)
		}
		e.Features[key] = one
	}
	return e
}
