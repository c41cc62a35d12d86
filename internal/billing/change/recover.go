package change

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Recover completes a change that its process may have left in flight, by repeating the request to Stripe. It ignores a
// closed change. After an error, call it again.
func (s *Service) Recover(ctx context.Context, org, change id.ID) error {
	var c *billing.Change
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		c, err = billing.One(ctx, tx, change)
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case c.State != billing.InFlight:
		return nil
	}

	_, err = s.executeChange(ctx, org, c, Call{})
	if c.State == billing.Failed { // closed as failed: recovered
		return nil
	}

	return err
}
