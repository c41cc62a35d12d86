package tenants

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// SetPlan puts an org on a plan of the catalogue that is paid elsewhere or not at all, such as one with custom pricing.
// The plan has no end. On the trial's plan the org gets a trial without end. SetPlan returns fault.Conflict for an org
// with a subscription at the payment processor, which decides its plan, and for a client org. It requires a reason.
func (s *Service) SetPlan(ctx context.Context, by By, which id.ID, plan string) error {
	if err := by.checkReason(); err != nil {
		return err
	}
	if _, ok := s.plans.Plan(plan); !ok {
		var keys []string
		for i := range s.plans.Plans {
			keys = append(keys, s.plans.Plans[i].Key)
		}
		return fault.Invalid("plan", "unknown_plan", fault.Choices("There is no such plan.", plan, keys))
	}

	return s.app.Tx(ctx, which, func(tx *postgres.Tx) error {
		if _, err := org.Read(ctx, tx); err != nil {
			return err
		}

		now, err := plans.Read(ctx, tx)
		if err != nil {
			return err
		}
		if now.Subscription != "" {
			return fault.New(fault.Conflict,
				"The payment processor has a subscription of this organization: change it there.")
		}

		want := plans.State{Plan: plan, Status: plans.Active, Customer: now.Customer, Quantity: now.Quantity}
		if plan == s.plans.Trial().Key {
			want.Status = plans.Trialing
		}

		before, err := s.plans.Set(ctx, tx, want)
		if err != nil || before.Plan == want.Plan && before.Status == want.Status {
			return err
		}

		return announcePlan(ctx, tx, by, &before.State, &want)
	})
}

// announcePlan writes a change of plan to the org's audit log and to its events.
func announcePlan(ctx context.Context, tx *postgres.Tx, by By, before, now *plans.State) error {
	previous := map[string]any{}
	if before.Plan != now.Plan {
		previous["plan"] = before.Plan
	}
	if before.Status != now.Status {
		previous["status"] = string(before.Status)
	}

	org.Audit(ctx, tx, org.Entry{
		Action: "plan.changed", Target: "subscription", ID: tx.Org().String(),
		Detail: map[string]any{"from": before.Plan, "to": now.Plan, "by": by.Actor, "reason": by.Reason},
	})

	return events.Announce(ctx, tx, events.PlanChanged{
		Plan:     events.Plan{Plan: now.Plan, Status: string(now.Status), EffectiveAt: wire.Now()},
		Previous: previous,
	})
}
