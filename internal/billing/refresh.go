package billing

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ReadFresh reads the org's state from Stripe, applies the differences to the rows and returns the resulting snapshot.
func (s *Service) ReadFresh(ctx context.Context, org id.ID) (*AccountState, error) {
	for range Tries {
		d, err := s.ReadState(ctx, org)
		if err != nil || d.Customer == "" {
			return d, err
		}

		now, err := s.ReadMirrored(ctx, d)
		if err != nil {
			return nil, err
		}
		if d.matchesStripe(now) {
			return d, nil
		}
		if err = s.applyReading(ctx, d, now, BySync); err != nil && !errors.Is(err, ErrMoved) {
			return nil, err
		}
	}

	return nil, ErrMoved
}

// Refresh applies Stripe's current state of an org and reports whether anything changed.
func (s *Service) Refresh(ctx context.Context, org id.ID, why string,
	also ...func(context.Context, *postgres.Tx) error,
) (changed bool, err error) {
	for range Tries {
		d, err := s.ReadState(ctx, org)
		if err != nil {
			return false, err
		}
		if d.Customer == "" {
			return false, s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return RunAll(ctx, tx, also) })
		}

		now, err := s.ReadMirrored(ctx, d)
		if err != nil {
			return false, err
		}

		same := d.matchesStripe(now)
		if err = s.applyReading(ctx, d, now, why, also...); !errors.Is(err, ErrMoved) {
			return !same, err
		}
	}

	return false, ErrMoved
}

// RunAll calls all in order until one returns an error.
func RunAll(ctx context.Context, tx *postgres.Tx, all []func(context.Context, *postgres.Tx) error) error {
	for _, one := range all {
		if err := one(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}
