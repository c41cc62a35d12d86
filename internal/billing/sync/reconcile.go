package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// pageOf is the number of orgs read per query.
const pageOf = 500

// ReconcileAll reads every customer's subscription from Stripe, within the request budget, and repairs differences. It
// logs a customer that fails, continues with the others, and retries it in the next run. An interrupted run resumes at
// its last position.
func (s *Service) ReconcileAll(ctx context.Context) (billing.Report, error) {
	const name = "whole"
	var r billing.Report
	at, err := s.readPosition(ctx, name)
	if err != nil {
		return r, err
	}

	after, err := id.Parse(at)
	if err != nil {
		after = id.ID{}
	}

	pace := billing.NewPacer(s.Now, s.Sleep)
	for {
		orgs, err := s.listCustomers(ctx, after)
		if err != nil {
			return r, err
		}

		for _, org := range orgs {
			err := s.refreshOrg(ctx, pace, org, &r)
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			if err != nil {
				r.Failed++
				s.Metrics.Repairs.WithLabelValues("failed").Inc()
				s.Log.ErrorContext(ctx, "sync of a subscription failed", "org_id", org.String(), "error",
					billing.Redacted(err))
			}

			after = org
		}

		if len(orgs) < pageOf {
			break
		}
		if err := s.writePosition(ctx, name, after.String()); err != nil {
			return r, err
		}
	}

	for result, n := range map[string]int{"same": r.Same, "repaired": r.Repaired, "failed": r.Failed} {
		s.Metrics.Synced.WithLabelValues(result).
			Set(float64(n)) //nolint:forbidigo // a gauge of subscriptions, no money
	}

	return r, s.writePosition(ctx, name, "")
}

// refreshOrg refreshes one org.
func (s *Service) refreshOrg(ctx context.Context, pace *billing.Pacer, org id.ID, r *billing.Report) error {
	var changed bool
	err := pace.Do(ctx, func() (err error) {
		r.Requests++
		changed, err = s.Refresh(ctx, org, billing.BySync)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, billing.ErrMoved):
		return err
	case changed:
		r.Repaired++
	default:
		r.Same++
	}

	return nil
}

func (s *Service) listCustomers(ctx context.Context, after id.ID) (orgs []id.ID, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT org_id FROM billing_customer WHERE org_id > $1 AND stripe_id IS NOT NULL ORDER BY org_id
				LIMIT $2`, after, pageOf)
		if err != nil {
			return err
		}

		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read customers: %w", err)
	}

	return orgs, nil
}

// ReconcileDue refreshes the orgs with a paid period that has ended by our clock, without an event of the next period.
// It returns how many there were.
func (s *Service) ReconcileDue(ctx context.Context) (billing.Report, error) {
	var r billing.Report
	var orgs []id.ID
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT org_id FROM stripe_subscription WHERE live AND period_end < $1 ORDER BY period_end LIMIT $2`,
			s.Timestamp().Add(-billing.ListingDelay), pageOf)
		if err != nil {
			return err
		}

		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return r, fmt.Errorf("read due subscriptions: %w", err)
	}

	pace := billing.NewPacer(s.Now, s.Sleep)
	for _, org := range orgs {
		if err := s.refreshOrg(ctx, pace, org, &r); err != nil {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			r.Failed++
			s.Log.ErrorContext(ctx, "sync of a subscription failed", "org_id", org.String(), "error",
				billing.Redacted(err))
		}
	}

	return r, nil
}
