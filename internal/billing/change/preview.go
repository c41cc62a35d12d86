package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// previewLife is how long a preview's price is valid.
const previewLife = 10 * time.Minute

// Preview is the cost of a change, as computed by Stripe.
type Preview struct {
	ID             id.ID
	Plan, Interval string
	Timing         string // Start, Now or PeriodEnd
	AmountDue      int64  // due at once; 0 for a credit and for a later change
	Total          int64  // sum of the lines; negative for a credit
	Currency       string
	Lines          []Line
	ProrationDate  time.Time // the time that the proration is computed for
	CreatedAt      time.Time
	ExpiresAt      time.Time

	base string
	pay  string // payment_behavior of a first subscription
}

// Line is one line of the upcoming invoice.
type Line struct {
	Description string    `json:"description"`
	Amount      int64     `json:"amount"`
	Proration   bool      `json:"proration"`
	PeriodStart time.Time `json:"period_start"`
	PeriodEnd   time.Time `json:"period_end"`
}

// Preview returns the cost of a change and stores it until it expires. It changes nothing else. keep runs in the
// transaction that stores the preview; it may be nil.
func (s *Service) Preview(ctx context.Context, org id.ID, w Request,
	keep func(context.Context, *postgres.Tx, *Preview) error,
) (*Preview, error) {
	if err := s.checkAllowed(w); err != nil {
		return nil, err
	}
	if _, err := s.EnsureCustomer(ctx, org); err != nil {
		return nil, billing.AsFault(err)
	}

	d, err := s.ReadFresh(ctx, org)
	if err != nil {
		return nil, billing.AsFault(err)
	}

	p, err := s.computePreview(ctx, d, w, time.Time{})
	if err != nil {
		return nil, billing.AsFault(err)
	}

	return p, s.savePreview(ctx, org, p, keep)
}

func (s *Service) savePreview(ctx context.Context, org id.ID, p *Preview,
	keep func(context.Context, *postgres.Tx, *Preview) error,
) error {
	lines, err := json.Marshal(p.Lines)
	if err != nil {
		return fmt.Errorf("encode preview: %w", err)
	}

	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO billing_preview (org_id, id, plan, "interval", timing, base, amount_due, total,
			currency, lines, proration_date, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			org, p.ID, p.Plan, p.Interval, p.Timing, p.base, p.AmountDue, p.Total, p.Currency, string(lines),
			p.ProrationDate, p.CreatedAt, p.ExpiresAt)
		if keep == nil {
			return nil
		}

		return keep(ctx, tx, p)
	})
}

// agreedPreview returns the preview on which a change is based. If the request names a preview, agreedPreview returns
// it if its base is unchanged, it has not expired and Stripe still computes the same cost. Otherwise it creates a new
// preview.
func (s *Service) agreedPreview(ctx context.Context, d *billing.AccountState, w Request) (*Preview, error) {
	timing := s.timingOf(d.Live(), w)
	if timing == billing.Now && isOverdue(d.Live()) {
		return nil, pastDue()
	}
	if w.Preview == nil {
		p, err := s.computePreview(ctx, d, w, time.Time{})
		if err != nil {
			return nil, err
		}
		return p, s.savePreview(ctx, d.Org, p, nil)
	}

	shown, err := s.readPreview(ctx, d.Org, *w.Preview)
	if err != nil {
		return nil, err
	}
	if shown == nil || shown.Plan != w.Plan || shown.Interval != w.Interval || shown.Timing != timing ||
		!s.Now().Before(shown.ExpiresAt) || shown.base != baseOf(d.Live()) {
		return nil, stalePreview()
	}

	again, err := s.computePreview(ctx, d, w, shown.ProrationDate)
	if err != nil {
		return nil, err
	}
	if again.AmountDue != shown.AmountDue || again.Total != shown.Total || again.Currency != shown.Currency {
		return nil, stalePreview()
	}

	shown.pay = again.pay

	return shown, nil
}

// readPreview reads a preview; nil if the org has no preview with that id.
func (s *Service) readPreview(ctx context.Context, org, preview id.ID) (*Preview, error) {
	p := &Preview{ID: preview}
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT plan, "interval", timing, base, amount_due, total, currency, proration_date, expires_at
				FROM billing_preview WHERE org_id = $1 AND id = $2`,
			[]any{org, preview}, &p.Plan, &p.Interval, &p.Timing, &p.base, &p.AmountDue, &p.Total, &p.Currency,
			&p.ProrationDate, &p.ExpiresAt)
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // no such preview is no error: to the caller it is as stale as any other
	}
	if err != nil {
		return nil, fmt.Errorf("read preview: %w", err)
	}

	return p, nil
}

// computePreview gets the cost of a change from Stripe, prorated at a given time, or now if at is zero.
func (s *Service) computePreview(ctx context.Context, d *billing.AccountState, w Request, at time.Time,
) (*Preview, error) {
	live := d.Live()
	now := s.Timestamp()
	p := &Preview{
		ID: id.New(), Plan: w.Plan, Interval: w.Interval, Timing: s.timingOf(live, w), base: baseOf(live),
		CreatedAt: now, ExpiresAt: now.Add(previewLife), Lines: []Line{},
	}
	items, err := itemsAfter(d, w.Plan, w.Interval)
	if err != nil {
		return nil, err
	}

	sold, err := d.Tariff.Find(billing.BasePrice, w.Plan, w.Interval)
	if err != nil {
		return nil, err
	}

	p.Currency = sold.Currency
	ask := &stripe.InvoiceUpcomingParams{Params: billing.Params(ctx, ""), Customer: &d.Customer}
	switch p.Timing {
	case billing.PeriodEnd:
		p.ProrationDate = live.PeriodEnd
		return p, nil
	case billing.Start:
		for _, i := range items {
			ask.SubscriptionItems = append(ask.SubscriptionItems,
				&stripe.SubscriptionItemsParams{Price: stripe.String(i.Price), Quantity: stripe.Int64(i.Quantity)})
		}
		p.ProrationDate = now.Truncate(time.Second)
		if !at.IsZero() {
			p.ProrationDate = at
		}
		if p.pay, err = s.paymentBehavior(ctx, d.Customer); err != nil {
			return nil, err
		}
	default:
		if at.IsZero() {
			at = clampToPeriod(now.Truncate(time.Second), live)
		}
		p.ProrationDate = at
		ask.Subscription, ask.SubscriptionItems = &live.ID, itemUpdates(items)
		ask.SubscriptionProrationBehavior, ask.SubscriptionProrationDate = stripe.String("always_invoice"),
			stripe.Int64(at.Unix())
	}

	inv, err := billing.FromStripe(s.Stripe.Invoices.Upcoming(ask))
	if p.Timing == billing.Now && live.CancelAtPeriodEnd && billsNothing(err) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}

	p.readLines(inv, live, w)

	return p, nil
}

// billsNothing reports whether Stripe rejected a preview because neither the change nor a renewal would bill anything:
// the subscription is canceled at the end of its period. See https://docs.stripe.com/error-codes#invoice-upcoming-none.
func billsNothing(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.Code == stripe.ErrorCodeInvoiceUpcomingNone
}

// clampToPeriod returns at, clamped to the subscription's period in case the clocks differ.
func clampToPeriod(at time.Time, h *billing.StripeSubscription) time.Time {
	if at.Before(h.PeriodStart) {
		return h.PeriodStart
	}
	if !at.Before(h.PeriodEnd) {
		return h.PeriodEnd.Add(-time.Second)
	}
	return at
}

// readLines takes the lines that would be charged at once. Stripe may list the lines of the next period after them.
func (p *Preview) readLines(inv *stripe.Invoice, live *billing.StripeSubscription, w Request) {
	p.AmountDue = inv.AmountDue
	p.Total = inv.Total
	if inv.Currency != "" {
		p.Currency = strings.ToUpper(string(inv.Currency))
	}
	if inv.Lines == nil {
		return
	}

	later := 0
	total := int64(0)
	for _, l := range inv.Lines.Data {
		line := Line{Description: l.Description, Amount: l.Amount, Proration: l.Proration}
		if l.Period != nil {
			line.PeriodStart, line.PeriodEnd = billing.UnixTime(l.Period.Start), billing.UnixTime(l.Period.End)
		}
		if p.Timing == billing.Now && w.Interval == live.Interval && !l.Proration {
			later++
			continue
		}

		total += l.Amount
		p.Lines = append(p.Lines, line)
	}

	if later > 0 {
		p.Total = total
		p.AmountDue = max(0, total+min(0, inv.StartingBalance))
	}
}

// baseOf returns the state of a subscription that a price is computed from. A change of it makes a preview stale.
func baseOf(h *billing.StripeSubscription) string {
	if !h.Live() {
		return "none"
	}
	return fmt.Sprintf("%s %s %s x%d %s x%d %d %s", h.ID, h.Status, h.Price, h.Quantity, h.OveragePrice,
		h.OverageQuantity, h.PeriodEnd.Unix(), h.Schedule)
}

// paymentBehavior returns the payment_behavior of a first subscription: immediate payment if the customer has a payment
// method.
func (s *Service) paymentBehavior(ctx context.Context, customer string) (string, error) {
	got, err := billing.FromStripe(s.Stripe.Customers.Get(customer,
		&stripe.CustomerParams{Params: billing.Params(ctx, "")}))
	if err != nil {
		return "", err
	}
	if got.DefaultSource != nil || got.InvoiceSettings != nil && got.InvoiceSettings.DefaultPaymentMethod != nil {
		return "allow_incomplete", nil
	}

	return "default_incomplete", nil
}

// isOverdue reports whether an invoice of the subscription is unpaid. A change would then credit time that was never
// paid for.
func isOverdue(h *billing.StripeSubscription) bool {
	return h != nil &&
		(h.Status == string(stripe.SubscriptionStatusPastDue) || h.Status == string(stripe.SubscriptionStatusUnpaid))
}
