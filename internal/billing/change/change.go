package change

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Change moves org to another plan. It returns after Stripe has responded: the status is Applied or Scheduled,
// ActionRequired if the customer has to confirm the payment, Unchanged if there is nothing to change.
//
// Errors: fault.ContactSales, fault.PreviewStale, fault.ChangeInFlight for a concurrent change, fault.PaymentDeclined,
// fault.PastDue, and fault.Unavailable if Stripe cannot be reached. After fault.Unavailable the change is still in
// flight and will be closed by its job.
func (s *Service) Change(ctx context.Context, org id.ID, w Request, call Call) (*Answer, error) {
	if err := s.checkAllowed(w); err != nil {
		return nil, err
	}
	if _, err := s.EnsureCustomer(ctx, org); err != nil {
		return nil, billing.AsFault(err)
	}

	for range billing.Tries {
		a, err := s.tryChange(ctx, org, w, call)
		if !errors.Is(err, billing.ErrMoved) {
			return a, billing.AsFault(err)
		}
	}

	return nil, inFlight(nil)
}

// tryChange is one attempt of Change.
func (s *Service) tryChange(ctx context.Context, org id.ID, w Request, call Call) (*Answer, error) {
	d, err := s.ReadFresh(ctx, org)
	if err != nil {
		return nil, err
	}
	if a, err := s.answerIfSatisfied(ctx, d, w); a != nil || err != nil {
		return a, err
	}

	p, err := s.agreedPreview(ctx, d, w)
	if err != nil {
		return nil, err
	}

	c, err := s.buildChange(d, p)
	if err != nil {
		return nil, err
	}
	if err := s.recordIntent(ctx, d, c, call); err != nil {
		return nil, err
	}

	return s.executeChange(ctx, org, c, call)
}

// answerIfSatisfied returns the answer to a request that is already satisfied: the org has the plan, or an open change
// leads to it. It returns nil, nil if a new change is needed, and fault.ChangeInFlight if another change is open.
func (s *Service) answerIfSatisfied(ctx context.Context, d *billing.AccountState, w Request) (*Answer, error) {
	live := d.Live()
	if c := d.Waiting(); c != nil {
		if c.State == billing.ActionRequired && c.ToPlan == w.Plan && c.ToInterval == w.Interval {
			return s.answerToConfirm(ctx, c)
		}
		return nil, inFlight(c)
	}
	if live.Has(w.Plan, w.Interval) {
		return &Answer{
			Status: billing.Unchanged, Plan: w.Plan, Interval: w.Interval, Currency: s.currencyOf(d, live),
			EffectiveAt: live.PeriodStart,
		}, nil
	}
	if c := d.Scheduled(); c != nil && c.Kind == billing.PeriodEnd && c.ToPlan == w.Plan &&
		c.ToInterval == w.Interval && s.timingOf(live, w) == billing.PeriodEnd {
		return answerFor(c), nil
	}

	return nil, nil
}
