package billing

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// updateRights updates the rights from the live subscription and announces an effective change of plan. An org that
// never had a subscription keeps its trial. mine is the change that caused it, or nil.
func (s *Service) updateRights(ctx context.Context, tx *postgres.Tx, d *AccountState, h *StripeSubscription,
	mine *Change,
) error {
	is, err := plans.Read(ctx, tx)
	if err != nil {
		return err
	}

	want, ok := stateFrom(is.State, d, h)
	if !ok {
		return nil
	}

	was, err := s.Catalogue.Set(ctx, tx, want)
	if err != nil {
		return err
	}

	previous := map[string]any{}
	if was.Plan != want.Plan {
		previous["plan"] = was.Plan
	}
	if was.Interval != want.Interval {
		previous["interval"] = nilIfBlank(was.Interval)
	}
	if isInEffect(was.Status) != isInEffect(want.Status) {
		previous["status"] = string(was.Status)
	}
	if len(previous) == 0 {
		return nil
	}

	detail := map[string]any{
		"from": was.Plan, "to": want.Plan, "interval": want.Interval,
		"status": string(want.Status),
	}
	act := Act{Action: "plan.changed", Target: "subscription", ID: want.Subscription, Detail: detail}
	if mine != nil {
		act.Target, act.ID = "plan_change", mine.ID.String()
		detail["invoice"] = mine.Invoice
		detail["amount_due"] = mine.AmountDue
		detail["currency"] = mine.Currency
	}

	s.Audit(ctx, tx, act)

	return events.Announce(ctx, tx, events.PlanChanged{
		Plan: events.Plan{
			Plan: want.Plan, Interval: nilIfBlank(want.Interval), Status: string(want.Status),
			EffectiveAt: wire.At(s.Timestamp()),
		},
		Previous: previous,
	})
}

// stateFrom returns the plan state that follows from the live subscription. It returns false if nothing changes: for a
// client org, which has its agency's rights, and for an org that never had a subscription.
func stateFrom(is plans.State, d *AccountState, h *StripeSubscription) (plans.State, bool) {
	switch {
	case is.Plan == plans.Client:
		return is, false
	case h == nil && is.Subscription == "":
		return is, false
	case h == nil:
		is.Status = plans.Canceled
		is.CancelAtPeriodEnd = false
		return is, true
	}

	start := wire.At(h.PeriodStart)
	end := wire.At(h.PeriodEnd)

	return plans.State{
		Plan: h.Plan, Interval: h.Interval, Status: plans.Status(h.Status), CancelAtPeriodEnd: h.CancelAtPeriodEnd,
		PeriodStart: &start, PeriodEnd: &end,
		Customer: d.Customer, Subscription: h.ID, Item: h.Item, OverageItem: h.OverageItem, Quantity: int(h.Quantity),
	}, true
}

// isInEffect reports whether a plan with that status is in effect.
func isInEffect(s plans.Status) bool {
	return s == plans.Active || s == plans.Trialing || s == plans.PastDue
}

func nilIfBlank(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
