package change

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// closeChange is TX2: it closes a change with the outcome v. It reads Stripe's state once more and applies it in the
// same transaction, so the rights are in effect when the caller gets the answer.
func (s *Service) closeChange(ctx context.Context, org id.ID, c *billing.Change, v *interpretation, call Call,
) (*Answer, error) {
	for range billing.Tries {
		a, err := s.tryClose(ctx, org, c, v, call)
		if !errors.Is(err, billing.ErrMoved) {
			return a, err
		}
	}
	return nil, billing.ErrMoved
}

func (s *Service) tryClose(ctx context.Context, org id.ID, c *billing.Change, v *interpretation, call Call,
) (*Answer, error) {
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

		row, err := billing.One(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if row.State == billing.InFlight { // not closed by another process
			if v.state != billing.Failed {
				s.closeSuperseded(tx, d)
			}
			s.recordOutcome(tx, row, v, now)
		}
		if err := s.WriteState(ctx, tx, d, now, billing.ByChange, row); err != nil {
			return err
		}

		*c = *row
		a = answerFor(c)
		a.ClientSecret = v.secret
		a.HostedURL = v.url
		a.Until = v.until
		if call.Keep != nil && c.State != billing.Failed {
			if err := call.Keep(ctx, tx, a); err != nil {
				return err
			}
		}

		return s.At(ctx, "closing")
	})
	if err != nil {
		return nil, err
	}

	s.Metrics.Changes.WithLabelValues(c.Kind, c.State).Inc()
	if err := s.At(ctx, "closed"); err != nil {
		return nil, err
	}
	if c.State == billing.Failed {
		if v.err == nil { // another process closed the change and reported the error
			return nil, turnedDown()
		}
		return nil, v.err
	}

	return a, nil
}

// recordOutcome writes the outcome of a change into its row.
func (s *Service) recordOutcome(tx *postgres.Tx, c *billing.Change, v *interpretation,
	now []*billing.StripeSubscription,
) {
	c.Failure = v.failure
	c.Invoice = v.invoice
	if v.sub != "" {
		c.Subscription = v.sub
	}
	if v.state != billing.Failed {
		c.AmountDue = v.amount
	}

	at := s.Timestamp()
	switch v.state {
	case billing.Applied:
		c.EffectiveAt = &at
	case billing.Scheduled:
		for _, h := range now {
			if h.ID == c.Subscription && h.Live() {
				end := h.PeriodEnd
				c.EffectiveAt = &end
			}
		}
	}

	s.SetState(tx, c, v.state,
		map[string]any{"amount_due": c.AmountDue, "currency": c.Currency, "invoice": c.Invoice, "failure": c.Failure})
	if v.state == billing.Applied && c.AmountDue != c.Expected && c.Expected >= 0 {
		s.AddStep(tx, c.ID, "amount_differs", map[string]any{"expected": c.Expected, "charged": c.AmountDue})
	}
}

// closeSuperseded closes the scheduled change as undone, because Stripe released its schedule for the new change.
func (s *Service) closeSuperseded(tx *postgres.Tx, d *billing.AccountState) {
	if c := d.Scheduled(); c != nil {
		c.Failure = "superseded"
		s.SetState(tx, c, billing.Undone, map[string]any{"failure": c.Failure})
	}
}
