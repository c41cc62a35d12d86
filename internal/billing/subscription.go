package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v76"
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

	LatestInvoice *stripe.Invoice // the latest invoice, if expanded
	ChangeID      string          // the change that created it, from its metadata
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

// Has reports whether the subscription is live and has the given plan and interval.
func (h *StripeSubscription) Has(plan, interval string) bool {
	return h.Live() && h.Plan == plan && h.Interval == interval
}

// sameRow reports whether h and o would be stored as the same row.
func (h *StripeSubscription) sameRow(o *StripeSubscription) bool {
	a := *h
	b := *o
	for _, x := range []*StripeSubscription{&a, &b} {
		// The mirror lacks these three.
		x.LatestInvoice = nil
		x.ChangeID = ""
		x.Customer = ""
		x.PeriodStart, x.PeriodEnd = x.PeriodStart.UTC(), x.PeriodEnd.UTC()
	}

	if (a.PendingUntil == nil) != (b.PendingUntil == nil) ||
		a.PendingUntil != nil && !a.PendingUntil.Equal(*b.PendingUntil) {
		return false
	}

	a.PendingUntil = nil
	b.PendingUntil = nil

	return a == b
}

// Convert converts Stripe's subscription. An unknown base price is an error, because its rights are unknown.
func (t *Tariff) Convert(sub *stripe.Subscription) (*StripeSubscription, error) {
	h := &StripeSubscription{
		ID: sub.ID, Status: string(sub.Status), PeriodStart: UnixTime(sub.CurrentPeriodStart),
		PeriodEnd:         UnixTime(sub.CurrentPeriodEnd),
		CancelAtPeriodEnd: sub.CancelAtPeriodEnd, ChangeID: sub.Metadata["change_id"],
	}
	if sub.Customer != nil {
		h.Customer = sub.Customer.ID
	}
	if sub.Schedule != nil {
		h.Schedule = sub.Schedule.ID
	}
	if sub.PendingUpdate != nil {
		until := UnixTime(sub.PendingUpdate.ExpiresAt)
		h.PendingUntil = &until
	}
	if sub.LatestInvoice != nil {
		h.Invoice = sub.LatestInvoice.ID
		if sub.LatestInvoice.Status != "" { // expanded
			h.LatestInvoice = sub.LatestInvoice
		}
	}
	if sub.Items == nil {
		return nil, fmt.Errorf("subscription %s has no items", sub.ID)
	}

	for _, item := range sub.Items.Data {
		if item.Price == nil {
			return nil, fmt.Errorf("subscription %s has an item without a price", sub.ID)
		}

		switch p, ok := t.ByID[item.Price.ID]; {
		case ok && p.Kind == OveragePrice:
			h.OverageItem = item.ID
			h.OveragePrice = item.Price.ID
			h.OverageQuantity = item.Quantity
		case ok && h.Item == "":
			h.Plan = p.Plan
			h.Interval = p.Interval
			h.Item = item.ID
			h.Price = item.Price.ID
			h.Quantity = item.Quantity
		// a custom price of a contract
		case !ok && item.Price.Metadata["plan"] != "" && item.Price.Recurring != nil && h.Item == "":
			h.Plan = item.Price.Metadata["plan"]
			h.Interval = string(item.Price.Recurring.Interval)
			h.Item = item.ID
			h.Price = item.Price.ID
			h.Quantity = item.Quantity
		default:
			return nil, fmt.Errorf("subscription %s has an unknown price %s", sub.ID, item.Price.ID)
		}
	}

	if h.Item == "" {
		return nil, fmt.Errorf("subscription %s has no base price", sub.ID)
	}

	return h, nil
}

// UnixTime returns the time, in UTC, of a timestamp of Stripe.
func UnixTime(s int64) time.Time { return time.Unix(s, 0).UTC() }

// PaymentIntentPath is the path that is expanded with a subscription: the payment intent of its latest invoice.
const PaymentIntentPath = "latest_invoice.payment_intent"

// ReadSubscription reads one subscription from Stripe.
func (s *Service) ReadSubscription(ctx context.Context, t *Tariff, sub string) (*StripeSubscription, error) {
	p := &stripe.SubscriptionParams{Params: Params(ctx, "")}
	p.AddExpand(PaymentIntentPath)
	got, err := FromStripe(s.Stripe.Subscriptions.Get(sub, p))
	if err != nil {
		return nil, err
	}
	return t.Convert(got)
}

// ReadSubscriptions reads every subscription of a customer, including ended ones, newest first.
func (s *Service) ReadSubscriptions(ctx context.Context, t *Tariff, customer string) ([]*StripeSubscription, error) {
	p := &stripe.SubscriptionListParams{Customer: &customer, Status: stripe.String("all")}
	p.Context = ctx
	p.Limit = stripe.Int64(100)
	p.AddExpand("data." + PaymentIntentPath)
	var out []*StripeSubscription
	it := s.Stripe.Subscriptions.List(p)
	for it.Next() {
		h, err := t.Convert(it.Subscription())
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}

	_, err := FromStripe(struct{}{}, it.Err())

	return out, err
}
