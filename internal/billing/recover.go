package billing

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Recover brings a change to its end that its process may have left in flight, by asking Stripe the same once more. A
// change that is closed is left alone. An error means: try again.
func (s *Service) Recover(ctx context.Context, org, change id.ID) error {
	var c *Change
	err := s.App.View(ctx, org, func(tx *postgres.Tx) (err error) {
		c, err = One(ctx, tx, change)
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case c.State != InFlight:
		return nil
	}
	_, err = s.carry(ctx, org, c, Call{})
	if c.State == Failed { // that is an end, too
		return nil
	}
	return err
}

// Refresh applies what Stripe holds of an org by now, and answers whether anything was to be done.
func (s *Service) Refresh(ctx context.Context, org id.ID, why string, also ...func(context.Context, *postgres.Tx) error) (changed bool, err error) {
	for range tries {
		d, err := s.desk(ctx, org)
		if err != nil {
			return false, err
		}
		if d.customer == "" {
			return false, s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return each(ctx, tx, also) })
		}
		now, err := s.look(ctx, d)
		if err != nil {
			return false, err
		}
		same := d.agrees(now)
		if err = s.apply(ctx, d, now, why, also...); !errors.Is(err, errMoved) {
			return !same, err
		}
	}
	return false, errMoved
}

func each(ctx context.Context, tx *postgres.Tx, all []func(context.Context, *postgres.Tx) error) error {
	for _, one := range all {
		if err := one(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// Waiting tells whether an org has a change in flight that is younger than a request may take: who has been told of it
// leaves it to the one who began it.
func (s *Service) Waiting(ctx context.Context, org id.ID) (bool, error) {
	var waits bool
	err := s.App.View(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM plan_change WHERE org_id = $1 AND state = 'in_flight' AND created_at > $2)`,
			[]any{org, s.now().Add(-courtesy)}, &waits)
	})
	return waits, err
}

// Away tells whether err means that the payment processor cannot be asked now: the same may go well later.
func Away(err error) bool {
	return fault.Is(err, fault.Unavailable) || lost(err) || isStripe(err) && (sortOf(err) == away || sortOf(err) == busy)
}

// Patience is how long to wait for the payment processor to come back, since something began to wait for it.
func Patience(since time.Time) time.Duration {
	switch waited := time.Since(since); {
	case waited < 2*time.Minute:
		return 5 * time.Second
	case waited < time.Hour:
		return 30 * time.Second
	default:
		return 5 * time.Minute
	}
}
