package billing

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Cancel ends the subscription at the end of the paid period. A repeated call returns the same change.
//
// Errors: fault.NoSubscription if there is no paid subscription; otherwise those of Change.
func (s *Service) Cancel(ctx context.Context, org id.ID, call Call) (*Answer, error) {
	for range tries {
		a, err := s.cancel(ctx, org, call)
		if !errors.Is(err, errMoved) {
			return a, outward(err)
		}
	}
	return nil, inFlight(nil)
}

func (s *Service) cancel(ctx context.Context, org id.ID, call Call) (*Answer, error) {
	d, err := s.fresh(ctx, org)
	if err != nil {
		return nil, err
	}
	live := d.live()
	switch c := d.waiting(); {
	case c != nil:
		return nil, inFlight(c)
	case live == nil:
		return nil, noSubscription()
	}
	if c := d.scheduled(); c != nil && c.Kind == Cancel {
		return answered(c), nil
	}
	now, end := s.now(), live.PeriodEnd
	c := &Change{
		ID: id.New(), Kind: Cancel, State: InFlight, KeyedAt: now, Currency: s.currency(d, live), EffectiveAt: &end,
		CreatedAt: now, UpdatedAt: now, version: d.version,
	}
	c.Key = "pc:" + c.ID.String()
	c.order.Customer = d.customer
	c.from(live)
	c.order.Uncancel = false
	if err := s.recordIntent(ctx, d, c, call); err != nil {
		return nil, err
	}
	return s.execute(ctx, org, c, call)
}

// Resume takes back a cancellation, regardless of who requested it, and returns the change that it undid. Without a
// cancellation it returns Unchanged.
func (s *Service) Resume(ctx context.Context, org id.ID, call Call) (*Answer, error) {
	d, err := s.fresh(ctx, org)
	if err != nil {
		return nil, outward(err)
	}
	live := d.live()
	switch c := d.waiting(); {
	case c != nil:
		return nil, inFlight(c)
	case live == nil:
		return nil, noSubscription()
	}
	if c := d.scheduled(); c != nil && c.Kind == Cancel {
		return s.Undo(ctx, org, c.ID, call)
	}
	a := &Answer{
		Status: Unchanged, Plan: live.Plan, Interval: live.Interval, Currency: s.currency(d, live),
		EffectiveAt: s.now(),
	}
	if live.CancelAtPeriodEnd { // canceled in the portal or Stripe's dashboard
		if _, err := s.renewing(ctx, live.ID, true); err != nil {
			return nil, outward(err)
		}
		a.Status = Undone
		if _, err := s.fresh(ctx, org); err != nil {
			return nil, outward(err)
		}
	}
	return a, s.keep(ctx, org, call, a)
}

// Undo takes back a change that has not taken effect: a scheduled change, or one that awaits the customer. For a change
// that is already undone it returns the same answer; for one that has taken effect or failed, fault.Conflict.
func (s *Service) Undo(ctx context.Context, org, change id.ID, call Call) (*Answer, error) {
	for range tries {
		a, err := s.undo(ctx, org, change, call)
		if !errors.Is(err, errMoved) {
			return a, outward(err)
		}
	}
	return nil, inFlight(nil)
}

func (s *Service) undo(ctx context.Context, org, change id.ID, call Call) (*Answer, error) {
	var c *Change
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		c, err = One(ctx, tx, change)
		return err
	})
	if err != nil {
		return nil, err
	}
	switch c.State {
	case InFlight:
		return nil, inFlight(c)
	case Applied, Failed:
		return nil, fault.New(fault.Conflict, "This change has finished and cannot be undone; request another one.")
	case Undone:
		return answered(c), nil
	}
	d, err := s.fresh(ctx, org)
	if err != nil {
		return nil, err
	}
	if err := s.takeBack(ctx, d, c); err != nil {
		return nil, err
	}
	return s.settled(ctx, org, c, call)
}

// takeBack reverts a change at Stripe. It is idempotent.
func (s *Service) takeBack(ctx context.Context, d *accountState, c *Change) error {
	var h *StripeSubscription
	for _, x := range d.subs {
		if x.ID == c.Subscription {
			h = x
		}
	}
	switch {
	case h == nil: // the subscription has ended: nothing to revert
		return nil
	case c.State == ActionRequired:
		return s.withdraw(ctx, c, h)
	case c.Kind == Cancel:
		_, err := s.renewing(ctx, h.ID, true)
		return err
	case h.Schedule != "" && !h.has(c.ToPlan, c.ToInterval):
		return s.release(ctx, h.Schedule)
	default:
		return nil
	}
}

// settled closes a change that was taken back as undone, unless it has taken effect meanwhile.
func (s *Service) settled(ctx context.Context, org id.ID, c *Change, call Call) (*Answer, error) {
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
		if err := s.write(ctx, tx, d, now, ours, nil); err != nil {
			return err
		}
		row, err := One(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		switch row.State {
		case Undone:
		case Failed: // the payment was withdrawn: count it as undone
			row.Failure = ""
			s.move(tx, row, Undone, nil)
		case Applied:
			return fault.New(fault.Conflict,
				"This change has just taken effect and cannot be undone; request another one.")
		default:
			return errMoved
		}
		s.Audit(ctx, tx, Act{Action: "plan.change_undone", Target: "plan_change", ID: row.ID.String()})
		a = answered(row)
		if call.Keep != nil {
			return call.Keep(ctx, tx, a)
		}
		return nil
	})
	return a, err
}

// keep calls call.Keep for an answer that has no change.
func (s *Service) keep(ctx context.Context, org id.ID, call Call, a *Answer) error {
	if call.Keep == nil {
		return nil
	}
	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return call.Keep(ctx, tx, a) })
}

func noSubscription() error {
	return fault.New(fault.NoSubscription, "There is no subscription; POST /billing/change-plan starts one.")
}

func pastDue() error {
	return fault.New(fault.PaymentPastDue,
		"An invoice is unpaid. Pay it in the billing portal first, or change the plan at the end of the period.")
}
