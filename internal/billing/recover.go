package billing

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Recover completes a change that its process may have left in flight, by repeating the request to Stripe. It ignores a
// closed change. After an error, call it again.
func (s *Service) Recover(ctx context.Context, org, change id.ID) error {
	var c *Change
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
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
	_, err = s.execute(ctx, org, c, Call{})
	if c.State == Failed { // closed as failed: recovered
		return nil
	}
	return err
}

// Refresh applies Stripe's current state of an org and reports whether anything changed.
func (s *Service) Refresh(ctx context.Context, org id.ID, why string,
	also ...func(context.Context, *postgres.Tx) error,
) (changed bool, err error) {
	for range tries {
		d, err := s.accountState(ctx, org)
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

// Waiting reports whether an org has a change in flight that is younger than the longest request. An event for the org
// then leaves the change to the request that made it.
func (s *Service) Waiting(ctx context.Context, org id.ID) (bool, error) {
	var waits bool
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT EXISTS (SELECT FROM plan_change WHERE org_id = $1 AND state = 'in_flight' AND created_at > $2)`,
			[]any{org, s.now().Add(-courtesy)}, &waits)
	})
	return waits, err
}

// Away reports whether err means that the payment processor is unavailable, so that a retry may succeed.
func Away(err error) bool {
	return fault.Is(err, fault.Unavailable) || lost(err) ||
		isStripe(err) && (sortOf(err) == away || sortOf(err) == busy)
}

// Patience returns the backoff until the next attempt to reach the payment processor, which has been awaited since
// since.
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
