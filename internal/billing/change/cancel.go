package change

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Cancel ends the subscription at the end of the paid period. A repeated call returns the same change.
//
// Errors: fault.NoSubscription if there is no paid subscription; otherwise those of Change.
func (s *Service) Cancel(ctx context.Context, org id.ID, call Call) (*Answer, error) {
	for range billing.Tries {
		a, err := s.tryCancel(ctx, org, call)
		if !errors.Is(err, billing.ErrMoved) {
			return a, billing.AsFault(err)
		}
	}
	return nil, inFlight(nil)
}

func (s *Service) tryCancel(ctx context.Context, org id.ID, call Call) (*Answer, error) {
	d, err := s.ReadFresh(ctx, org)
	if err != nil {
		return nil, err
	}

	live := d.Live()
	switch c := d.Waiting(); {
	case c != nil:
		return nil, inFlight(c)
	case live == nil:
		return nil, noSubscription()
	}

	if c := d.Scheduled(); c != nil && c.Kind == billing.Cancel {
		return answerFor(c), nil
	}

	now := s.Timestamp()
	end := live.PeriodEnd
	c := &billing.Change{
		ID: id.New(), Kind: billing.Cancel, State: billing.InFlight, KeyedAt: now, Currency: s.currencyOf(d, live),
		EffectiveAt: &end, CreatedAt: now, UpdatedAt: now, Version: d.Version,
	}
	c.Key = "pc:" + c.ID.String()
	c.Order.Customer = d.Customer
	setFrom(c, live)
	c.Order.Uncancel = false
	if err := s.recordIntent(ctx, d, c, call); err != nil {
		return nil, err
	}

	return s.executeChange(ctx, org, c, call)
}

// Resume takes back a cancellation, regardless of who requested it, and returns the change that it undid. Without a
// cancellation it returns Unchanged.
func (s *Service) Resume(ctx context.Context, org id.ID, call Call) (*Answer, error) {
	d, err := s.ReadFresh(ctx, org)
	if err != nil {
		return nil, billing.AsFault(err)
	}

	live := d.Live()
	switch c := d.Waiting(); {
	case c != nil:
		return nil, inFlight(c)
	case live == nil:
		return nil, noSubscription()
	}

	if c := d.Scheduled(); c != nil && c.Kind == billing.Cancel {
		return s.Undo(ctx, org, c.ID, call)
	}

	a := &Answer{
		Status: billing.Unchanged, Plan: live.Plan, Interval: live.Interval, Currency: s.currencyOf(d, live),
		EffectiveAt: s.Timestamp(),
	}
	if live.CancelAtPeriodEnd { // canceled in the portal or Stripe's dashboard
		if _, err := s.setRenewal(ctx, live.ID, true); err != nil {
			return nil, billing.AsFault(err)
		}
		a.Status = billing.Undone
		if _, err := s.ReadFresh(ctx, org); err != nil {
			return nil, billing.AsFault(err)
		}
	}

	return a, s.keepAnswer(ctx, org, call, a)
}
