package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// overdrawnSQL reads the orgs that may have more than their limit, and those that pay for more: agencies.
const overdrawnSQL = `
SELECT h.org_id FROM quota q JOIN stripe_subscription h ON h.org_id = q.org_id AND h.live
WHERE q.overage AND q.feature = $1 AND h.overage_quantity <> greatest(0, q.used - q.cap)
UNION ALL
SELECT h.org_id FROM stripe_subscription h
WHERE h.live AND h.overage_quantity <> 0
	AND NOT EXISTS (SELECT FROM quota q WHERE q.org_id = h.org_id AND q.feature = $1 AND q.overage)`

// Overdrawn returns the orgs for which the number of client orgs above the plan's limit differs from the quantity that
// Stripe charges.
func (s *Service) Overdrawn(ctx context.Context) (orgs []id.ID, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		// few rows of tables that have many
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`)
		rows, err := tx.Query(ctx, overdrawnSQL, plans.Clients)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read overage: %w", err)
	}

	return orgs, nil
}

// Overage sets Stripe's quantity of client orgs above the plan's limit to max(0, used - limit). key is the idempotency
// key of this attempt. The quantity is absolute, so a second attempt with another key sets the same value. Stripe
// prorates the difference and invoices it with the period.
func (s *Service) Overage(ctx context.Context, org id.ID, key string) error {
	for range billing.Tries {
		err := s.updateOverage(ctx, org, key)
		if !errors.Is(err, billing.ErrMoved) {
			return err
		}
	}
	return billing.ErrMoved
}

func (s *Service) updateOverage(ctx context.Context, org id.ID, key string) error {
	d, err := s.ReadFresh(ctx, org)
	if err != nil {
		return err
	}

	live := d.Live()
	if live == nil || d.Waiting() != nil { // a change in flight updates the items itself; retried by the next run
		return nil
	}

	var want int64
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		want, err = plans.Overage(ctx, tx)
		return err
	})
	if err != nil || want == live.OverageQuantity {
		return err
	}

	p, sells := d.Tariff.Current[billing.Sold{Kind: billing.OveragePrice, Plan: live.Plan, Interval: live.Interval}]
	change := &stripe.SubscriptionItemsParams{Quantity: stripe.Int64(want)}
	switch {
	case live.OverageItem != "":
		change.ID = stripe.String(live.OverageItem)
		if sells {
			change.Price = stripe.String(p.ID)
		}
	case sells:
		change.Price = stripe.String(p.ID)
	default:
		return nil // the plan sells no overage: existing client orgs stay, free of charge
	}

	_, err = billing.FromStripe(s.Stripe.Subscriptions.Update(live.ID, &stripe.SubscriptionParams{
		Params: billing.Params(ctx, fmt.Sprintf("%s:%s:%d", key, live.ID, want)),
		Items:  []*stripe.SubscriptionItemsParams{change}, ProrationBehavior: stripe.String("create_prorations"),
	}))
	if err != nil {
		return err
	}

	_, err = s.Refresh(ctx, org, billing.ByChange, func(ctx context.Context, tx *postgres.Tx) error {
		s.Audit(ctx, tx,
			billing.Act{
				Action: "billing.overage_synced", Target: "subscription", ID: live.ID,
				Detail: map[string]any{"from": live.OverageQuantity, "to": want},
			})
		return nil
	})

	return err
}
