package billing

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The reason why state is applied, for the audit log.
const (
	ByChange = "change" // our own request
	ByEvent  = "event"  // an event of Stripe
	BySync   = "sync"   // a difference found by a sync
)

// applyReading writes the subscriptions read from Stripe. It returns ErrMoved if anything was applied since d was read.
func (s *Service) applyReading(ctx context.Context, d *AccountState, now []*StripeSubscription, why string,
	also ...func(context.Context, *postgres.Tx) error,
) error {
	return s.App.Tx(ctx, d.Org, func(tx *postgres.Tx) error {
		if err := Lock(ctx, tx, d.Version); err != nil {
			return err
		}
		if err := s.WriteState(ctx, tx, d, now, why, nil); err != nil {
			return err
		}

		for _, more := range also {
			if err := more(ctx, tx); err != nil {
				return err
			}
		}

		return nil
	})
}

// WriteState is the only place where a reading of Stripe becomes rows. It writes the mirror, the rights, the outcome of
// open changes, one plan.changed event per effective change, and the next version. mine is the change that the caller
// has just closed, or nil.
func (s *Service) WriteState(ctx context.Context, tx *postgres.Tx, d *AccountState, now []*StripeSubscription,
	why string, mine *Change,
) error {
	changed := false
	was := map[string]*StripeSubscription{}
	for _, h := range d.Subscriptions {
		was[h.ID] = h
	}

	counts, err := s.electCounting(ctx, d, now)
	if err != nil {
		return err
	}

	for _, h := range now {
		before := was[h.ID]
		delete(was, h.ID)
		if before != nil && before.sameRow(h) ||
			before == nil && !h.Live() && h.Status != string(stripe.SubscriptionStatusIncomplete) {
			continue
		}

		writeMirror(tx, h, h == counts, s.Timestamp())
		changed = true
	}

	if changed {
		tx.Queue(`UPDATE billing_customer SET version = version + 1 WHERE org_id = $1`, tx.Org())
	}

	open := d.Open
	if mine != nil {
		if open, err = listUnsettled(ctx, tx); err != nil {
			return err
		}
	}

	for _, c := range open {
		if c.State != InFlight { // a change in flight is closed by its own process
			s.closeIfShown(tx, c, now)
		}
	}

	if err := s.updateRights(ctx, tx, d, counts, mine); err != nil {
		return err
	}
	if changed && why == BySync {
		s.Metrics.Repairs.WithLabelValues("subscription").Inc()
		s.Audit(ctx, tx,
			Act{
				Action: "billing.repaired", Target: "subscription", ID: counts.idOrEmpty(),
				Detail: map[string]any{"was": subscriptionDetail(d.Live()), "is": subscriptionDetail(counts)},
			})
	}

	return nil
}

func (h *StripeSubscription) idOrEmpty() string {
	if h == nil {
		return ""
	}
	return h.ID
}

func subscriptionDetail(h *StripeSubscription) map[string]any {
	if h == nil {
		return nil
	}
	return map[string]any{
		"status": h.Status, "plan": h.Plan, "interval": h.Interval,
		"current_period_end": wire.At(h.PeriodEnd), "cancel_at_period_end": h.CancelAtPeriodEnd,
	}
}

// electCounting returns the subscription that counts. An org has several live subscriptions only if a person created
// one at Stripe's dashboard; then electCounting keeps the one that counted before and logs the others for an operator.
func (s *Service) electCounting(ctx context.Context, d *AccountState, now []*StripeSubscription,
) (*StripeSubscription, error) {
	var one *StripeSubscription
	for _, h := range now {
		if !h.Live() {
			continue
		}
		if one != nil {
			s.Log.ErrorContext(ctx, "org has several live subscriptions", "org_id", d.Org.String(), "subscription",
				one.ID, "another", h.ID)
			s.Metrics.Repairs.WithLabelValues("second_subscription").Inc()
			if live := d.Live(); live == nil || h.ID != live.ID {
				continue
			}
		}

		one = h
	}

	if live := d.Live(); one != nil && live != nil && one.ID != live.ID {
		seen := false
		for _, h := range now {
			seen = seen || h.ID == live.ID
		}
		if !seen { // the previous one was not in this reading
			return nil, fmt.Errorf("subscription %s is live, but %s was not read", one.ID, live.ID)
		}
	}

	return one, nil
}

// closeIfShown closes an open change if Stripe's state shows its outcome.
func (s *Service) closeIfShown(tx *postgres.Tx, c *Change, now []*StripeSubscription) {
	var h *StripeSubscription
	for _, x := range now {
		if x.ID == c.Subscription {
			h = x
		}
	}

	end := func(state, failure string) {
		at := s.Timestamp()
		c.Failure = failure
		if state == Applied && c.Kind != PeriodEnd && c.Kind != Cancel || c.EffectiveAt == nil {
			c.EffectiveAt = &at
		}

		s.SetState(tx, c, state,
			map[string]any{"amount_due": c.AmountDue, "currency": c.Currency, "invoice": c.Invoice, "failure": failure})
		s.Metrics.Changes.WithLabelValues(c.Kind, state).Inc()
	}
	switch {
	case h == nil: // not read: the outcome is unknown
	case c.State == ActionRequired:
		if c.AppliedTo(h) {
			end(Applied, "")
		} else if !c.AwaitsPayment(h) {
			end(Failed, "expired")
		}
	case c.Kind == PeriodEnd:
		switch {
		case h.Has(c.ToPlan, c.ToInterval):
			end(Applied, "")
		case h.Schedule == "" || !h.Live():
			end(Undone, "")
		}
	case c.Kind == Cancel:
		switch {
		case !h.Live():
			end(Applied, "")
		case !h.CancelAtPeriodEnd:
			end(Undone, "")
		}
	}
}

// Lock takes the customer's row lock until the end of tx. It returns ErrMoved if the row's version differs from
// version.
func Lock(ctx context.Context, tx *postgres.Tx, version int64) error {
	var now int64
	err := tx.QueryRow(ctx, `SELECT version FROM billing_customer WHERE org_id = $1 FOR UPDATE`, []any{tx.Org()}, &now)
	if err != nil {
		return fmt.Errorf("lock customer: %w", err)
	}
	if now != version {
		return ErrMoved
	}

	return nil
}
