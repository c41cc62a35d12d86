package billing

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// entitle lets the rights follow the subscription that counts, and announces the effective change of plan where there
// is one. An org that never had a subscription keeps its trial. mine is the change that brought it; nil for none.
func (s *Service) entitle(ctx context.Context, tx *postgres.Tx, d *desk, h *Held, mine *Change) error {
	is, err := plans.Read(ctx, tx)
	if err != nil {
		return err
	}
	want, ok := grant(is.State, d, h)
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
		previous["interval"] = optional(was.Interval)
	}
	if counts(was.Status) != counts(want.Status) {
		previous["status"] = string(was.Status)
	}
	if len(previous) == 0 {
		return nil
	}
	detail := map[string]any{"from": was.Plan, "to": want.Plan, "interval": want.Interval, "status": string(want.Status)}
	act := Act{Action: "plan.changed", Target: "subscription", ID: want.Subscription, Detail: detail}
	if mine != nil {
		act.Target, act.ID = "plan_change", mine.ID.String()
		detail["invoice"], detail["amount_due"], detail["currency"] = mine.Invoice, mine.AmountDue, mine.Currency
	}
	s.Audit(ctx, tx, act)
	return events.Announce(ctx, tx, events.PlanChanged{
		Plan:     events.Plan{Plan: want.Plan, Interval: optional(want.Interval), Status: string(want.Status), EffectiveAt: wire.At(s.now())},
		Previous: previous,
	})
}

// grant is what an org has by the subscription that counts; false where nothing is to be changed: a client's rights are
// its agency's, and who has no subscription and had none keeps what it began with.
func grant(is plans.State, d *desk, h *Held) (plans.State, bool) {
	switch {
	case is.Plan == plans.Client:
		return is, false
	case h == nil && is.Subscription == "":
		return is, false
	case h == nil:
		is.Status, is.CancelAtPeriodEnd = plans.Canceled, false
		return is, true
	}
	start, end := wire.At(h.PeriodStart), wire.At(h.PeriodEnd)
	return plans.State{
		Plan: h.Plan, Interval: h.Interval, Status: plans.Status(h.Status), CancelAtPeriodEnd: h.CancelAtPeriodEnd, PeriodStart: &start, PeriodEnd: &end,
		Customer: d.customer, Subscription: h.ID, Item: h.Item, OverageItem: h.OverageItem, Quantity: int(h.Quantity),
	}, true
}

// counts tells whether a plan of that status is had in full.
func counts(s plans.Status) bool {
	return s == plans.Active || s == plans.Trialing || s == plans.PastDue
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
