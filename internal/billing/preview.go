package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// previewLife is how long a price stands that was shown.
const previewLife = 10 * time.Minute

// Preview is what a change would cost, by Stripe's own reckoning.
type Preview struct {
	ID             id.ID
	Plan, Interval string
	Timing         string // Start, Now or PeriodEnd
	AmountDue      int64  // at once; 0 for a credit and for what takes effect later
	Total          int64  // sum of the lines, less than nothing for a credit
	Currency       string
	Lines          []Line
	ProrationDate  time.Time // the moment that it is reckoned for
	CreatedAt      time.Time
	ExpiresAt      time.Time

	base string
	pay  string // payment_behavior of a first subscription
}

// Line is one line of the invoice to be.
type Line struct {
	Description string    `json:"description"`
	Amount      int64     `json:"amount"`
	Proration   bool      `json:"proration"`
	PeriodStart time.Time `json:"period_start"`
	PeriodEnd   time.Time `json:"period_end"`
}

// Preview answers what a wish would cost and keeps the answer for as long as it stands. It changes nothing else.
// keep runs in the transaction that writes it; it may be nil.
func (s *Service) Preview(ctx context.Context, org id.ID, w Wish, keep func(context.Context, *postgres.Tx, *Preview) error) (*Preview, error) {
	if err := s.allowed(w); err != nil {
		return nil, err
	}
	if _, err := s.enrol(ctx, org); err != nil {
		return nil, outward(err)
	}
	d, err := s.fresh(ctx, org)
	if err != nil {
		return nil, outward(err)
	}
	p, err := s.reckon(ctx, d, w, time.Time{})
	if err != nil {
		return nil, outward(err)
	}
	return p, s.save(ctx, org, p, keep)
}

func (s *Service) save(ctx context.Context, org id.ID, p *Preview, keep func(context.Context, *postgres.Tx, *Preview) error) error {
	lines, err := json.Marshal(p.Lines)
	if err != nil {
		return fmt.Errorf("encode preview: %w", err)
	}
	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO billing_preview (org_id, id, plan, "interval", timing, base, amount_due, total, currency, lines, proration_date, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			org, p.ID, p.Plan, p.Interval, p.Timing, p.base, p.AmountDue, p.Total, p.Currency, string(lines), p.ProrationDate, p.CreatedAt, p.ExpiresAt)
		if keep == nil {
			return nil
		}
		return keep(ctx, tx, p)
	})
}

// agreed is the preview that a change goes by: the one that was shown, if what it was made from still stands, has not
// expired and would cost the same today; or, where none was, one that is made now.
func (s *Service) agreed(ctx context.Context, d *desk, w Wish) (*Preview, error) {
	timing := s.timing(d.live(), w)
	if timing == Now && overdue(d.live()) {
		return nil, pastDue()
	}
	if w.Preview == nil {
		p, err := s.reckon(ctx, d, w, time.Time{})
		if err != nil {
			return nil, err
		}
		return p, s.save(ctx, d.org, p, nil)
	}
	shown, err := s.shown(ctx, d.org, *w.Preview)
	if err != nil {
		return nil, err
	}
	if shown == nil || shown.Plan != w.Plan || shown.Interval != w.Interval || shown.Timing != timing || !s.Now().Before(shown.ExpiresAt) || shown.base != d.live().base() {
		return nil, stale()
	}
	again, err := s.reckon(ctx, d, w, shown.ProrationDate)
	if err != nil {
		return nil, err
	}
	if again.AmountDue != shown.AmountDue || again.Total != shown.Total || again.Currency != shown.Currency {
		return nil, stale()
	}
	shown.pay = again.pay
	return shown, nil
}

// shown reads a preview; nil where the org has none of that id.
func (s *Service) shown(ctx context.Context, org, preview id.ID) (*Preview, error) {
	p := &Preview{ID: preview}
	err := s.App.View(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT plan, "interval", timing, base, amount_due, total, currency, proration_date, expires_at FROM billing_preview WHERE org_id = $1 AND id = $2`,
			[]any{org, preview}, &p.Plan, &p.Interval, &p.Timing, &p.base, &p.AmountDue, &p.Total, &p.Currency, &p.ProrationDate, &p.ExpiresAt)
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // no such preview is no error: to the caller it is as stale as any other
	}
	if err != nil {
		return nil, fmt.Errorf("read preview: %w", err)
	}
	return p, nil
}

// reckon asks Stripe what a wish costs, at a moment of the period or, where that is zero, now.
func (s *Service) reckon(ctx context.Context, d *desk, w Wish, at time.Time) (*Preview, error) {
	live, now := d.live(), s.now()
	p := &Preview{ID: id.New(), Plan: w.Plan, Interval: w.Interval, Timing: s.timing(live, w), base: live.base(), CreatedAt: now, ExpiresAt: now.Add(previewLife), Lines: []Line{}}
	items, err := d.items(w.Plan, w.Interval)
	if err != nil {
		return nil, err
	}
	sold, err := d.tariff.find(base, w.Plan, w.Interval)
	if err != nil {
		return nil, err
	}
	p.Currency = sold.Currency
	ask := &stripe.InvoiceUpcomingParams{Params: given(ctx, ""), Customer: &d.customer}
	switch p.Timing {
	case PeriodEnd:
		p.ProrationDate = live.PeriodEnd
		return p, nil
	case Start:
		for _, i := range items {
			ask.SubscriptionItems = append(ask.SubscriptionItems, &stripe.SubscriptionItemsParams{Price: stripe.String(i.Price), Quantity: stripe.Int64(i.Quantity)})
		}
		p.ProrationDate = now.Truncate(time.Second)
		if !at.IsZero() {
			p.ProrationDate = at
		}
		if p.pay, err = s.means(ctx, d.customer); err != nil {
			return nil, err
		}
	default:
		if at.IsZero() {
			at = within(now.Truncate(time.Second), live)
		}
		p.ProrationDate = at
		ask.Subscription, ask.SubscriptionItems = &live.ID, updates(items)
		ask.SubscriptionProrationBehavior, ask.SubscriptionProrationDate = stripe.String("always_invoice"), stripe.Int64(at.Unix())
	}
	inv, err := asked(s.stripe.Invoices.Upcoming(ask))
	if p.Timing == Now && live.CancelAtPeriodEnd && billsNothing(err) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	p.read(inv, live, w)
	return p, nil
}

// billsNothing reports whether Stripe refused a preview because neither the change nor a renewal would bill anything: the
// plan stays as it is and ends with its period. See https://docs.stripe.com/error-codes#invoice-upcoming-none.
func billsNothing(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.Code == stripe.ErrorCodeInvoiceUpcomingNone
}

// within is at, moved into the subscription's period where the clocks differ.
func within(at time.Time, h *Held) time.Time {
	if at.Before(h.PeriodStart) {
		return h.PeriodStart
	}
	if !at.Before(h.PeriodEnd) {
		return h.PeriodEnd.Add(-time.Second)
	}
	return at
}

// read takes the lines that would be charged at once. Stripe may list those of the next period behind them.
func (p *Preview) read(inv *stripe.Invoice, live *Held, w Wish) {
	p.AmountDue, p.Total = inv.AmountDue, inv.Total
	if inv.Currency != "" {
		p.Currency = strings.ToUpper(string(inv.Currency))
	}
	if inv.Lines == nil {
		return
	}
	later, total := 0, int64(0)
	for _, l := range inv.Lines.Data {
		line := Line{Description: l.Description, Amount: l.Amount, Proration: l.Proration}
		if l.Period != nil {
			line.PeriodStart, line.PeriodEnd = unix(l.Period.Start), unix(l.Period.End)
		}
		if p.Timing == Now && w.Interval == live.Interval && !l.Proration {
			later++
			continue
		}
		total += l.Amount
		p.Lines = append(p.Lines, line)
	}
	if later > 0 {
		p.Total, p.AmountDue = total, max(0, total+min(0, inv.StartingBalance))
	}
}

// means is how a first subscription is paid: at once, where the customer has left a payment method.
func (s *Service) means(ctx context.Context, customer string) (string, error) {
	got, err := asked(s.stripe.Customers.Get(customer, &stripe.CustomerParams{Params: given(ctx, "")}))
	if err != nil {
		return "", err
	}
	if got.DefaultSource != nil || got.InvoiceSettings != nil && got.InvoiceSettings.DefaultPaymentMethod != nil {
		return "allow_incomplete", nil
	}
	return "default_incomplete", nil
}

// overdue tells whether an invoice of the subscription is unpaid. Stripe would credit the time that was never paid for.
func overdue(h *Held) bool {
	return h != nil && (h.Status == string(stripe.SubscriptionStatusPastDue) || h.Status == string(stripe.SubscriptionStatusUnpaid))
}
