package change

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Undo takes back a change that has not taken effect: a scheduled change, or one that awaits the customer. For a change
// that is already undone it returns the same answer; for one that has taken effect or failed, fault.Conflict.
func (s *Service) Undo(ctx context.Context, org, change id.ID, call Call) (*Answer, error) {
	for range billing.Tries {
		a, err := s.tryUndo(ctx, org, change, call)
		if !errors.Is(err, billing.ErrMoved) {
			return a, billing.AsFault(err)
		}
	}
	return nil, inFlight(nil)
}

func (s *Service) tryUndo(ctx context.Context, org, change id.ID, call Call) (*Answer, error) {
	var c *billing.Change
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		c, err = billing.One(ctx, tx, change)
		return err
	})
	if err != nil {
		return nil, err
	}

	switch c.State {
	case billing.InFlight:
		return nil, inFlight(c)
	case billing.Applied, billing.Failed:
		return nil, fault.New(fault.Conflict, "This change has finished and cannot be undone; request another one.")
	case billing.Undone:
		return answerFor(c), nil
	}

	d, err := s.ReadFresh(ctx, org)
	if err != nil {
		return nil, err
	}
	if err := s.takeBack(ctx, d, c); err != nil {
		return nil, err
	}

	return s.closeUndone(ctx, org, c, call)
}

// takeBack reverts a change at Stripe. It is idempotent.
func (s *Service) takeBack(ctx context.Context, d *billing.AccountState, c *billing.Change) error {
	var h *billing.StripeSubscription
	for _, x := range d.Subscriptions {
		if x.ID == c.Subscription {
			h = x
		}
	}

	switch {
	case h == nil: // the subscription has ended: nothing to revert
		return nil
	case c.State == billing.ActionRequired:
		return s.withdrawUnpaid(ctx, c, h)
	case c.Kind == billing.Cancel:
		_, err := s.setRenewal(ctx, h.ID, true)
		return err
	case h.Schedule != "" && !h.Has(c.ToPlan, c.ToInterval):
		return s.releaseSchedule(ctx, h.Schedule)
	default:
		return nil
	}
}

// closeUndone closes a change that was taken back as undone, unless it has taken effect meanwhile.
func (s *Service) closeUndone(ctx context.Context, org id.ID, c *billing.Change, call Call) (*Answer, error) {
	d, err := s.ReadState(ctx, org)
	if err != nil {
		return nil, err
	}

	now, err := s.ReadMirrored(ctx, d)
	if err != nil {
		return nil, err
	}

	var a *Answer
	err = s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		if err := billing.Lock(ctx, tx, d.Version); err != nil {
			return err
		}
		if err := s.WriteState(ctx, tx, d, now, billing.ByChange, nil); err != nil {
			return err
		}

		row, err := billing.One(ctx, tx, c.ID)
		if err != nil {
			return err
		}

		switch row.State {
		case billing.Undone:
		case billing.Failed: // the payment was withdrawn: count it as undone
			row.Failure = ""
			s.SetState(tx, row, billing.Undone, nil)
		case billing.Applied:
			return fault.New(fault.Conflict,
				"This change has just taken effect and cannot be undone; request another one.")
		default:
			return billing.ErrMoved
		}

		s.Audit(ctx, tx, billing.Act{Action: "plan.change_undone", Target: "plan_change", ID: row.ID.String()})
		a = answerFor(row)
		if call.Keep != nil {
			return call.Keep(ctx, tx, a)
		}

		return nil
	})

	return a, err
}

// keepAnswer calls call.Keep for an answer that has no change.
func (s *Service) keepAnswer(ctx context.Context, org id.ID, call Call, a *Answer) error {
	if call.Keep == nil {
		return nil
	}
	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return call.Keep(ctx, tx, a) })
}
