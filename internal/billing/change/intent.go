package change

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// buildChange returns the change for a preview, with all parameters of the requests to Stripe.
func (s *Service) buildChange(d *billing.AccountState, p *Preview) (*billing.Change, error) {
	live := d.Live()
	now := s.Timestamp()
	c := &billing.Change{
		ID: id.New(), Kind: p.Timing, State: billing.InFlight, ToPlan: p.Plan, ToInterval: p.Interval, KeyedAt: now,
		Preview:  &p.ID,
		Expected: p.AmountDue, Currency: p.Currency, CreatedAt: now, UpdatedAt: now, Version: d.Version,
	}
	c.Key = "pc:" + c.ID.String()
	items, err := itemsAfter(d, p.Plan, p.Interval)
	if err != nil {
		return nil, err
	}

	c.Order = billing.Order{Customer: d.Customer, Items: items}
	if live == nil {
		c.Kind = billing.Start
		c.Order.Pay = p.pay
		return c, nil
	}

	setFrom(c, live)

	switch c.Kind {
	case billing.Now:
		c.Order.ProratedAt = p.ProrationDate.Unix()
	case billing.PeriodEnd:
		c.Order.Items = phaseItems(items)
		c.Order.PeriodStart, c.Order.PeriodEnd = live.PeriodStart.Unix(), live.PeriodEnd.Unix()
		c.Order.Current = phaseItems(itemsOf(live))
		c.EffectiveAt = &live.PeriodEnd
	}

	return c, nil
}

// setFrom records in c the subscription's state before the change.
func setFrom(c *billing.Change, live *billing.StripeSubscription) {
	c.FromPlan = live.Plan
	c.FromInterval = live.Interval
	c.Subscription = live.ID
	c.Order.Subscription = live.ID
	c.Order.Release = live.Schedule
	c.Order.Uncancel = live.CancelAtPeriodEnd
	c.Order.Invoice = live.Invoice
}

// recordIntent is TX1: under the customer's row lock, it writes the change and enqueues the job that recovers it. It
// returns ErrMoved if anything has changed since d was read.
func (s *Service) recordIntent(ctx context.Context, d *billing.AccountState, c *billing.Change, call Call) error {
	err := s.App.Tx(ctx, d.Org, func(tx *postgres.Tx) error {
		if call.Check != nil {
			if err := call.Check(ctx, tx); err != nil {
				return err
			}
		}
		if err := billing.Lock(ctx, tx, d.Version); err != nil {
			return err
		}
		if err := c.Insert(ctx, tx, call.Key, call.Fingerprint); err != nil {
			return err
		}

		detail := map[string]any{
			"from": c.FromPlan, "to": c.ToPlan, "interval": c.ToInterval,
			"amount_expected": c.Expected, "currency": c.Currency,
		}
		s.AddStep(tx, c.ID, "requested", detail)
		s.Audit(ctx, tx, billing.Act{
			Action: "plan.change_requested", Target: "plan_change", ID: c.ID.String(), Detail: detail,
		})

		return s.Remind(ctx, tx, c.ID)
	})
	switch {
	case postgres.Violates(err, "plan_change_open"), postgres.Violates(err, "plan_change_client_key"):
		return inFlight(nil)
	case err != nil:
		return err
	}

	return s.At(ctx, "begun")
}
