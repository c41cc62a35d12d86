package connect

import (
	"context"
	"errors"
	"net/http"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// LostAccess reports whether err is Stripe's response for an account that our key may not access or that does not
// exist. Stripe does not distinguish the two.
func LostAccess(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) &&
		(e.Code == stripe.ErrorCodeAccountInvalid ||
			e.HTTPStatusCode == http.StatusNotFound && e.Code == stripe.ErrorCodeResourceMissing)
}

// RefreshAccount reads the org's account from Stripe and applies the differences, with also in the same transaction. It
// reports whether anything changed. The row's version detects a concurrent refresh between the read and the write; the
// later one reads again.
func (s *Service) RefreshAccount(ctx context.Context, org id.ID, why string,
	also ...func(context.Context, *postgres.Tx) error,
) (changed bool, err error) {
	for range billing.Tries {
		c, err := s.readStored(ctx, org)
		if err != nil {
			return false, err
		}
		if c.ID == "" {
			return false, s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return billing.RunAll(ctx, tx, also) })
		}

		f, err := s.readAccount(ctx, c.ID)
		if err != nil {
			return false, err
		}
		if changed, err = s.applyAccount(ctx, c, f, why, also...); !errors.Is(err, billing.ErrMoved) {
			return changed, err
		}
	}

	return false, billing.ErrMoved
}

// Returned is RefreshAccount for a browser that returns from Stripe's pages. The redirect itself proves nothing.
func (s *Service) Returned(ctx context.Context, org id.ID) error {
	_, err := s.RefreshAccount(ctx, org, billing.ByEvent)
	return billing.AsFault(err)
}

// readAccount reads one account from Stripe. An account that we cannot access is returned as Gone, not as an error.
func (s *Service) readAccount(ctx context.Context, account string) (Facts, error) {
	got, err := billing.FromStripe(s.Stripe.Accounts.GetByID(account,
		&stripe.AccountParams{Params: billing.Params(ctx, "")}))
	switch {
	case LostAccess(err):
		return Facts{Gone: true}, nil
	case err != nil:
		return Facts{}, err
	}

	return factsOf(got), nil
}

// applyAccount writes f. It returns ErrMoved if anything was applied since c was read.
func (s *Service) applyAccount(ctx context.Context, c *Account, f Facts, why string,
	also ...func(context.Context, *postgres.Tx) error,
) (changed bool, err error) {
	if len(also) == 0 && c.sameRow(&f) {
		return false, nil
	}

	err = s.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error {
		is, err := readRow(ctx, tx, " FOR UPDATE")
		if err != nil {
			return err
		}
		if is.Version != c.Version || is.ID != c.ID {
			return billing.ErrMoved
		}
		if changed = !is.sameRow(&f); changed {
			if err := s.writeReading(ctx, tx, is, is.ID, f, why); err != nil {
				return err
			}
		}

		return billing.RunAll(ctx, tx, also)
	})

	return changed, err
}
