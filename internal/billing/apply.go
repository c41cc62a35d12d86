package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The reason why state is applied, for the audit log.
const (
	ours  = "change" // our own request
	told  = "event"  // an event of Stripe
	found = "sync"   // a difference found by a sync
)

// conclude is TX2: it closes a change with the outcome v. It reads Stripe's state once more and applies it in the same
// transaction, so the rights are in effect when the caller gets the answer.
func (s *Service) conclude(ctx context.Context, org id.ID, c *Change, v *interpretation, call Call) (*Answer, error) {
	for range tries {
		a, err := s.close(ctx, org, c, v, call)
		if !errors.Is(err, errMoved) {
			return a, err
		}
	}
	return nil, errMoved
}

func (s *Service) close(ctx context.Context, org id.ID, c *Change, v *interpretation, call Call) (*Answer, error) {
	d, err := s.accountState(ctx, org)
	if err != nil {
		return nil, err
	}
	now, err := s.look(ctx, d)
	if err != nil {
		return nil, err
	}
	var a *Answer
	err = s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if err := lock(ctx, tx, d.version); err != nil {
			return err
		}
		row, err := One(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if row.State == InFlight { // not closed by another process
			if v.state != Failed {
				s.supersede(tx, d)
			}
			s.record(tx, row, v, now)
		}
		if err := s.write(ctx, tx, d, now, ours, row); err != nil {
			return err
		}
		*c = *row
		a = answered(c)
		a.ClientSecret, a.HostedURL, a.Until = v.secret, v.url, v.until
		if call.Keep != nil && c.State != Failed {
			if err := call.Keep(ctx, tx, a); err != nil {
				return err
			}
		}
		return s.At(ctx, "closing")
	})
	if err != nil {
		return nil, err
	}
	s.Metrics.changes.WithLabelValues(c.Kind, c.State).Inc()
	if err := s.At(ctx, "closed"); err != nil {
		return nil, err
	}
	if c.State == Failed {
		if v.err == nil { // another process closed the change and reported the error
			return nil, turnedDown()
		}
		return nil, v.err
	}
	return a, nil
}

// record writes the outcome of a change into its row.
func (s *Service) record(tx *postgres.Tx, c *Change, v *interpretation, now []*StripeSubscription) {
	c.Failure, c.Invoice = v.failure, v.invoice
	if v.sub != "" {
		c.Subscription = v.sub
	}
	if v.state != Failed {
		c.AmountDue = v.amount
	}
	at := s.now()
	switch v.state {
	case Applied:
		c.EffectiveAt = &at
	case Scheduled:
		for _, h := range now {
			if h.ID == c.Subscription && h.Live() {
				end := h.PeriodEnd
				c.EffectiveAt = &end
			}
		}
	}
	s.move(tx, c, v.state,
		map[string]any{"amount_due": c.AmountDue, "currency": c.Currency, "invoice": c.Invoice, "failure": c.Failure})
	if v.state == Applied && c.AmountDue != c.Expected && c.Expected >= 0 {
		s.step(tx, c.ID, "amount_differs", map[string]any{"expected": c.Expected, "charged": c.AmountDue})
	}
}

// supersede closes the scheduled change as undone, because Stripe released its schedule for the new change.
func (s *Service) supersede(tx *postgres.Tx, d *accountState) {
	if c := d.scheduled(); c != nil {
		c.Failure = "superseded"
		s.move(tx, c, Undone, map[string]any{"failure": c.Failure})
	}
}

// apply writes the subscriptions read from Stripe. It returns errMoved if anything was applied since d was read.
func (s *Service) apply(ctx context.Context, d *accountState, now []*StripeSubscription, why string,
	also ...func(context.Context, *postgres.Tx) error,
) error {
	return s.App.Tx(ctx, d.org, func(tx *postgres.Tx) error {
		if err := lock(ctx, tx, d.version); err != nil {
			return err
		}
		if err := s.write(ctx, tx, d, now, why, nil); err != nil {
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

// write is the only place where a reading of Stripe becomes rows. It writes the mirror, the rights, the outcome of open
// changes, one plan.changed event per effective change, and the next version. mine is the change that the caller has
// just closed, or nil.
func (s *Service) write(ctx context.Context, tx *postgres.Tx, d *accountState, now []*StripeSubscription, why string,
	mine *Change,
) error {
	changed := false
	was := map[string]*StripeSubscription{}
	for _, h := range d.subs {
		was[h.ID] = h
	}
	counts, err := s.elect(ctx, d, now)
	if err != nil {
		return err
	}
	for _, h := range now {
		before := was[h.ID]
		delete(was, h.ID)
		if before != nil && before.same(h) ||
			before == nil && !h.Live() && h.Status != string(stripe.SubscriptionStatusIncomplete) {
			continue
		}
		reflect(tx, h, h == counts, s.now())
		changed = true
	}
	if changed {
		tx.Queue(`UPDATE billing_customer SET version = version + 1 WHERE org_id = $1`, tx.Org())
	}
	open := d.open
	if mine != nil {
		if open, err = unsettled(ctx, tx); err != nil {
			return err
		}
	}
	for _, c := range open {
		if c.State != InFlight { // a change in flight is closed by its own process
			s.settle(tx, c, now)
		}
	}
	if err := s.entitle(ctx, tx, d, counts, mine); err != nil {
		return err
	}
	if changed && why == found {
		s.Metrics.repairs.WithLabelValues("subscription").Inc()
		s.Audit(ctx, tx,
			Act{
				Action: "billing.repaired", Target: "subscription", ID: counts.id(),
				Detail: map[string]any{"was": describe(d.live()), "is": describe(counts)},
			})
	}
	return nil
}

func (h *StripeSubscription) id() string {
	if h == nil {
		return ""
	}
	return h.ID
}

func describe(h *StripeSubscription) map[string]any {
	if h == nil {
		return nil
	}
	return map[string]any{
		"status": h.Status, "plan": h.Plan, "interval": h.Interval,
		"current_period_end": wire.At(h.PeriodEnd), "cancel_at_period_end": h.CancelAtPeriodEnd,
	}
}

// elect returns the subscription that counts. An org has several live subscriptions only if a person created one at
// Stripe's dashboard; then elect keeps the one that counted before and logs the others for an operator.
func (s *Service) elect(ctx context.Context, d *accountState, now []*StripeSubscription) (*StripeSubscription, error) {
	var one *StripeSubscription
	for _, h := range now {
		if !h.Live() {
			continue
		}
		if one != nil {
			s.Log.ErrorContext(ctx, "org has several live subscriptions", "org_id", d.org.String(), "subscription",
				one.ID, "another", h.ID)
			s.Metrics.repairs.WithLabelValues("second_subscription").Inc()
			if live := d.live(); live == nil || h.ID != live.ID {
				continue
			}
		}
		one = h
	}
	if live := d.live(); one != nil && live != nil && one.ID != live.ID {
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

// settle closes an open change if Stripe's state shows its outcome.
func (s *Service) settle(tx *postgres.Tx, c *Change, now []*StripeSubscription) {
	var h *StripeSubscription
	for _, x := range now {
		if x.ID == c.Subscription {
			h = x
		}
	}
	end := func(state, failure string) {
		at := s.now()
		c.Failure = failure
		if state == Applied && c.Kind != PeriodEnd && c.Kind != Cancel || c.EffectiveAt == nil {
			c.EffectiveAt = &at
		}
		s.move(tx, c, state,
			map[string]any{"amount_due": c.AmountDue, "currency": c.Currency, "invoice": c.Invoice, "failure": failure})
		s.Metrics.changes.WithLabelValues(c.Kind, state).Inc()
	}
	switch {
	case h == nil: // not read: the outcome is unknown
	case c.State == ActionRequired:
		if c.paid(h, nil) != nil {
			end(Applied, "")
		} else if !c.outstanding(h) {
			end(Failed, "expired")
		}
	case c.Kind == PeriodEnd:
		switch {
		case h.has(c.ToPlan, c.ToInterval):
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
