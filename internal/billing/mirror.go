package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

const mirrorColumns = `stripe_id, status, plan, "interval", price_id, item_id, quantity,
	overage_item_id, overage_price_id, overage_quantity,
	period_start, period_end, cancel_at_period_end, schedule_id, pending_until, invoice_id`

func scanStripeSubscription(row pgx.CollectableRow) (*StripeSubscription, error) {
	h := &StripeSubscription{}
	err := row.Scan(&h.ID, &h.Status, &h.Plan, &h.Interval, &h.Price, &h.Item, &h.Quantity, &h.OverageItem,
		&h.OveragePrice, &h.OverageQuantity,
		&h.PeriodStart, &h.PeriodEnd, &h.CancelAtPeriodEnd, &h.Schedule, &h.PendingUntil, &h.Invoice)
	return h, err
}

// listMirrored returns the subscriptions of tx's org that may still change, the live one first.
func listMirrored(ctx context.Context, tx *postgres.Tx) ([]*StripeSubscription, error) {
	rows, err := tx.Query(ctx, `SELECT `+mirrorColumns+` FROM stripe_subscription
		WHERE org_id = $1 AND (live OR status = 'incomplete') ORDER BY live DESC, stripe_id`, tx.Org())
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanStripeSubscription)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}

	return all, nil
}

// writeMirror writes h to the mirror.
func writeMirror(tx *postgres.Tx, h *StripeSubscription, live bool, at time.Time) {
	tx.Queue(`
		INSERT INTO stripe_subscription (org_id, live, read_at, `+mirrorColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (org_id, stripe_id) DO UPDATE SET live = excluded.live, read_at = excluded.read_at, status =
		excluded.status,
			plan = excluded.plan, "interval" = excluded."interval", price_id = excluded.price_id, item_id =
			excluded.item_id, quantity = excluded.quantity,
			overage_item_id = excluded.overage_item_id, overage_price_id = excluded.overage_price_id,
			overage_quantity = excluded.overage_quantity,
			period_start = excluded.period_start, period_end = excluded.period_end, cancel_at_period_end =
			excluded.cancel_at_period_end,
			schedule_id = excluded.schedule_id, pending_until = excluded.pending_until, invoice_id =
			excluded.invoice_id`,
		tx.Org(), live, at, h.ID, h.Status, h.Plan, h.Interval, h.Price, h.Item, h.Quantity, h.OverageItem,
		h.OveragePrice, h.OverageQuantity,
		h.PeriodStart, h.PeriodEnd, h.CancelAtPeriodEnd, h.Schedule, h.PendingUntil, h.Invoice)
}
