package sync

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
)

// ReconcileSales continues the sales that a process left in flight, fetches missed events of selling accounts, and
// updates the percentages. An org that fails does not stop the others.
func (s *Service) ReconcileSales(ctx context.Context) (billing.Report, error) {
	var r billing.Report
	all, err := s.connect.Sellers(ctx)
	if err != nil {
		return r, err
	}

	pace := billing.NewPacer(s.Now, s.Sleep)
	for _, one := range all {
		err := pace.Do(ctx, func() error {
			r.Requests++
			return s.reconcileSeller(ctx, one, &r)
		})
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case err != nil:
			r.Failed++
			s.Log.ErrorContext(ctx, "sync of a reseller's sales failed", "org_id", one.Org.String(), "error",
				billing.Redacted(err))
		default:
			r.Same++
		}
	}

	return r, nil
}

func (s *Service) reconcileSeller(ctx context.Context, one connect.Seller, r *billing.Report) error {
	if one.Begun {
		n, err := s.connect.ResumeSales(ctx, one.Org)
		r.Repaired += n
		if err != nil {
			return err
		}
	}
	if one.Account != "" {
		missed, err := s.fetchMissedEvents(ctx, one.Account)
		r.Repaired += missed
		if err != nil && !connect.LostAccess(err) {
			return err
		}
	}

	return s.connect.Rates(ctx, one.Org)
}
