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

// Why something is applied: it decides what the audit log says.
const (
	ours  = "change" // we asked for it
	told  = "event"  // Stripe told us
	found = "sync"   // we looked, and found what nobody had told us
)

// conclude closes a change that Stripe has given its verdict on: TX2. What Stripe holds by now is read once more and
// applied in the same transaction, so that the rights are there when the answer is.
func (s *Service) conclude(ctx context.Context, org id.ID, c *Change, v *verdict, call Call) (*Answer, error) {
	for range tries {
		a, err := s.close(ctx, org, c, v, call)
		if !errors.Is(err, errMoved) {
			return a, err
		}
	}
	return nil, errMoved
}

func (s *Service) close(ctx context.Context, org id.ID, c *Change, v *verdict, call Call) (*Answer, error) {
	d, err := s.desk(ctx, org)
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
		if row.State == InFlight { // nobody was quicker
			if v.state != Failed {
				s.supersede(tx, d)
			}
			s.verdict(tx, row, v, now)
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
		if v.err == nil { // closed by another, who was told
			return nil, turnedDown()
		}
		return nil, v.err
	}
	return a, nil
}

// verdict writes a verdict on a change into its row.
func (s *Service) verdict(tx *postgres.Tx, c *Change, v *verdict, now []*Held) {
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
	s.move(tx, c, v.state, map[string]any{"amount_due": c.AmountDue, "currency": c.Currency, "invoice": c.Invoice, "failure": c.Failure})
	if v.state == Applied && c.AmountDue != c.Expected && c.Expected >= 0 {
		s.step(tx, c.ID, "amount_differs", map[string]any{"expected": c.Expected, "charged": c.AmountDue})
	}
}

// supersede ends what was scheduled before another change: Stripe has let go of it.
func (s *Service) supersede(tx *postgres.Tx, d *desk) {
	if c := d.scheduled(); c != nil {
		c.Failure = "superseded"
		s.move(tx, c, Undone, map[string]any{"failure": c.Failure})
	}
}

// apply writes what was read from Stripe, if nothing has been applied since d was read; else errMoved.
func (s *Service) apply(ctx context.Context, d *desk, now []*Held, why string, also ...func(context.Context, *postgres.Tx) error) error {
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

// write is the one place where a reading of Stripe becomes rows: the mirror, the rights, the fate of open changes, one
// plan.changed for each effective change, and the next version. mine is a change that the caller itself has just
// closed; nil for none.
func (s *Service) write(ctx context.Context, tx *postgres.Tx, d *desk, now []*Held, why string, mine *Change) error {
	changed := false
	was := map[string]*Held{}
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
		if before != nil && before.same(h) || before == nil && !h.Live() && h.Status != string(stripe.SubscriptionStatusIncomplete) {
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
		if c.State != InFlight { // such a one has its own driver
			s.settle(tx, c, now)
		}
	}
	if err := s.entitle(ctx, tx, d, counts, mine); err != nil {
		return err
	}
	if changed && why == found {
		s.Metrics.repairs.WithLabelValues("subscription").Inc()
		s.Audit(ctx, tx, Act{Action: "billing.repaired", Target: "subscription", ID: counts.id(), Detail: map[string]any{"was": describe(d.live()), "is": describe(counts)}})
	}
	return nil
}

func (h *Held) id() string {
	if h == nil {
		return ""
	}
	return h.ID
}

func describe(h *Held) map[string]any {
	if h == nil {
		return nil
	}
	return map[string]any{"status": h.Status, "plan": h.Plan, "interval": h.Interval, "current_period_end": wire.At(h.PeriodEnd), "cancel_at_period_end": h.CancelAtPeriodEnd}
}

// elect answers the one subscription that counts: of several live ones, which only somebody at Stripe's dashboard can
// have made, the one that counted before. The others are for people to look at.
func (s *Service) elect(ctx context.Context, d *desk, now []*Held) (*Held, error) {
	var one *Held
	for _, h := range now {
		if !h.Live() {
			continue
		}
		if one != nil {
			s.Log.ErrorContext(ctx, "an org has several live subscriptions", "org", d.org.String(), "subscription", one.ID, "another", h.ID)
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
		if !seen { // it was not among those that were read
			return nil, fmt.Errorf("subscription %s is live, and %s was not read", one.ID, live.ID)
		}
	}
	return one, nil
}

// settle gives an open change the end that Stripe's state has brought it.
func (s *Service) settle(tx *postgres.Tx, c *Change, now []*Held) {
	var h *Held
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
		s.move(tx, c, state, map[string]any{"amount_due": c.AmountDue, "currency": c.Currency, "invoice": c.Invoice, "failure": failure})
		s.Metrics.changes.WithLabelValues(c.Kind, state).Inc()
	}
	switch {
	case h == nil: // not read, so nothing is known
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
