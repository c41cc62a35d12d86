package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// StripeSubscription is a subscription as read from Stripe.
type StripeSubscription struct {
	ID, Customer, Status string
	Plan, Interval       string // of its base price
	Item, Price          string
	Quantity             int64
	OverageItem          string // "": none
	OveragePrice         string
	OverageQuantity      int64
	PeriodStart          time.Time
	PeriodEnd            time.Time
	CancelAtPeriodEnd    bool
	Schedule             string     // "": none
	PendingUntil         *time.Time // when an unpaid update expires
	Invoice              string     // the latest invoice

	invoice *stripe.Invoice // the latest invoice, if expanded
	change  string          // the change that created it, from its metadata
}

// Live reports whether the subscription has begun and has not ended.
func (h *StripeSubscription) Live() bool {
	if h == nil {
		return false
	}
	switch stripe.SubscriptionStatus(h.Status) {
	case stripe.SubscriptionStatusActive, stripe.SubscriptionStatusTrialing, stripe.SubscriptionStatusPastDue,
		stripe.SubscriptionStatusUnpaid, stripe.SubscriptionStatusPaused:
		return true
	default:
		return false
	}
}

// has reports whether the subscription is live and has the given plan and interval.
func (h *StripeSubscription) has(plan, interval string) bool {
	return h.Live() && h.Plan == plan && h.Interval == interval
}

// same reports whether h and o would be stored as the same row.
func (h *StripeSubscription) same(o *StripeSubscription) bool {
	a, b := *h, *o
	for _, x := range []*StripeSubscription{&a, &b} {
		x.invoice, x.change, x.Customer = nil, "", "" // not mirrored
		x.PeriodStart, x.PeriodEnd = x.PeriodStart.UTC(), x.PeriodEnd.UTC()
	}
	if (a.PendingUntil == nil) != (b.PendingUntil == nil) ||
		a.PendingUntil != nil && !a.PendingUntil.Equal(*b.PendingUntil) {
		return false
	}
	a.PendingUntil, b.PendingUntil = nil, nil
	return a == b
}

// base returns the state that a price is computed from. A change of the base makes a preview stale.
func (h *StripeSubscription) base() string {
	if !h.Live() {
		return "none"
	}
	return fmt.Sprintf("%s %s %s x%d %s x%d %d %s", h.ID, h.Status, h.Price, h.Quantity, h.OveragePrice,
		h.OverageQuantity, h.PeriodEnd.Unix(), h.Schedule)
}

// held converts Stripe's subscription. An unknown base price is an error, because its rights are unknown.
func (t *tariff) held(sub *stripe.Subscription) (*StripeSubscription, error) {
	h := &StripeSubscription{
		ID: sub.ID, Status: string(sub.Status), PeriodStart: unix(sub.CurrentPeriodStart),
		PeriodEnd:         unix(sub.CurrentPeriodEnd),
		CancelAtPeriodEnd: sub.CancelAtPeriodEnd, change: sub.Metadata["change_id"],
	}
	if sub.Customer != nil {
		h.Customer = sub.Customer.ID
	}
	if sub.Schedule != nil {
		h.Schedule = sub.Schedule.ID
	}
	if sub.PendingUpdate != nil {
		until := unix(sub.PendingUpdate.ExpiresAt)
		h.PendingUntil = &until
	}
	if sub.LatestInvoice != nil {
		h.Invoice = sub.LatestInvoice.ID
		if sub.LatestInvoice.Status != "" { // expanded
			h.invoice = sub.LatestInvoice
		}
	}
	if sub.Items == nil {
		return nil, fmt.Errorf("subscription %s has no items", sub.ID)
	}
	for _, item := range sub.Items.Data {
		if item.Price == nil {
			return nil, fmt.Errorf("subscription %s has an item without a price", sub.ID)
		}
		switch p, ok := t.byID[item.Price.ID]; {
		case ok && p.Kind == overage:
			h.OverageItem, h.OveragePrice, h.OverageQuantity = item.ID, item.Price.ID, item.Quantity
		case ok && h.Item == "":
			h.Plan, h.Interval, h.Item, h.Price, h.Quantity = p.Plan, p.Interval, item.ID, item.Price.ID, item.Quantity
		// a custom price of a contract
		case !ok && item.Price.Metadata["plan"] != "" && item.Price.Recurring != nil && h.Item == "":
			h.Plan, h.Interval, h.Item, h.Price, h.Quantity = item.Price.Metadata["plan"],
				string(item.Price.Recurring.Interval), item.ID, item.Price.ID, item.Quantity
		default:
			return nil, fmt.Errorf("subscription %s has an unknown price %s", sub.ID, item.Price.ID)
		}
	}
	if h.Item == "" {
		return nil, fmt.Errorf("subscription %s has no base price", sub.ID)
	}
	return h, nil
}

func unix(s int64) time.Time { return time.Unix(s, 0).UTC() }

// expanded is the path that is expanded with a subscription: the payment intent of its latest invoice.
const expanded = "latest_invoice.payment_intent"

// read reads one subscription from Stripe.
func (s *Service) read(ctx context.Context, t *tariff, sub string) (*StripeSubscription, error) {
	p := &stripe.SubscriptionParams{Params: given(ctx, "")}
	p.AddExpand(expanded)
	got, err := asked(s.stripe.Subscriptions.Get(sub, p))
	if err != nil {
		return nil, err
	}
	return t.held(got)
}

// all reads every subscription of a customer, including ended ones, newest first.
func (s *Service) all(ctx context.Context, t *tariff, customer string) ([]*StripeSubscription, error) {
	p := &stripe.SubscriptionListParams{Customer: &customer, Status: stripe.String("all")}
	p.Context, p.Limit = ctx, stripe.Int64(100)
	p.AddExpand("data." + expanded)
	var out []*StripeSubscription
	it := s.stripe.Subscriptions.List(p)
	for it.Next() {
		h, err := t.held(it.Subscription())
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	_, err := asked(struct{}{}, it.Err())
	return out, err
}

const mirrorColumns = `stripe_id, status, plan, "interval", price_id, item_id, quantity, overage_item_id,
	overage_price_id, overage_quantity,
	period_start, period_end, cancel_at_period_end, schedule_id, pending_until, invoice_id`

func scanStripeSubscription(row pgx.CollectableRow) (*StripeSubscription, error) {
	h := &StripeSubscription{}
	err := row.Scan(&h.ID, &h.Status, &h.Plan, &h.Interval, &h.Price, &h.Item, &h.Quantity, &h.OverageItem,
		&h.OveragePrice, &h.OverageQuantity,
		&h.PeriodStart, &h.PeriodEnd, &h.CancelAtPeriodEnd, &h.Schedule, &h.PendingUntil, &h.Invoice)
	return h, err
}

// mirrored returns the subscriptions of tx's org that may still change, the live one first.
func mirrored(ctx context.Context, tx *postgres.Tx) ([]*StripeSubscription, error) {
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

// reflect writes h to the mirror.
func reflect(tx *postgres.Tx, h *StripeSubscription, live bool, at time.Time) {
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
