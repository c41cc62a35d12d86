package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// judge says what a change came to, from what Stripe answered to it. That answer may be a replay of an old one; so
// unless it says that all is done, the subscription is looked at as it is now.
func (s *Service) judge(ctx context.Context, t *tariff, c *Change, got *stripe.Subscription) (*verdict, error) {
	h, err := t.held(got)
	if err != nil {
		return nil, err
	}
	own := h.invoice
	if h.Invoice == c.order.Invoice { // no invoice of its own: nothing was due
		own = nil
	}
	if v := c.paid(h, own); v != nil {
		return v, nil
	}
	if h, err = s.read(ctx, t, h.ID); err != nil {
		return nil, err
	}
	if v := c.paid(h, own); v != nil {
		return v, nil
	}
	return s.weigh(ctx, t, c, h, own)
}

// paid is the verdict on a change whose subscription is what it asked for; nil where it is not. own is the invoice that
// the change made; nil where nothing was due.
func (c *Change) paid(h *Held, own *stripe.Invoice) *verdict {
	if !h.has(c.ToPlan, c.ToInterval) || h.PendingUntil != nil {
		return nil
	}
	v := &verdict{state: Applied, sub: h.ID}
	if own != nil {
		v.invoice, v.amount = own.ID, own.AmountDue
	}
	return v
}

// weigh is the verdict on a change that Stripe has not applied: h, just read, says how its payment stands. What was
// declined is taken back before anybody is told, so that it cannot be paid later behind their back.
func (s *Service) weigh(ctx context.Context, t *tariff, c *Change, h *Held, own *stripe.Invoice) (*verdict, error) {
	if !c.outstanding(h) {
		return &verdict{state: Failed, failure: "expired", sub: h.ID, err: stale()}, nil
	}
	v := &verdict{sub: h.ID, invoice: h.Invoice, until: h.PendingUntil}
	if h.invoice != nil {
		v.amount, v.url = h.invoice.AmountDue, h.invoice.HostedInvoiceURL
		if pi := h.invoice.PaymentIntent; pi != nil {
			v.secret = pi.ClientSecret
			switch pi.Status {
			case stripe.PaymentIntentStatusRequiresAction, stripe.PaymentIntentStatusRequiresConfirmation, stripe.PaymentIntentStatusProcessing:
				v.state = ActionRequired
			case stripe.PaymentIntentStatusRequiresPaymentMethod:
				if c.Kind == Start && pi.LastPaymentError == nil { // no card yet: the customer brings one
					v.state = ActionRequired
				}
			default:
			}
		}
	}
	if v.state == ActionRequired {
		return v, nil
	}
	if err := s.withdraw(ctx, c, h); err != nil {
		return nil, err
	}
	now, err := s.read(ctx, t, h.ID)
	if err != nil {
		return nil, err
	}
	if v := c.paid(now, own); v != nil { // paid in the last moment
		return v, nil
	}
	if c.outstanding(now) {
		return nil, &broken{fmt.Errorf("change %s was declined and cannot be taken back", c.ID)}
	}
	return &verdict{state: Failed, failure: string(fault.PaymentDeclined), sub: h.ID, invoice: h.Invoice, err: turnedDown()}, nil
}

// outstanding tells whether h still waits for the change's money.
func (c *Change) outstanding(h *Held) bool {
	if c.Kind == Start {
		return h.Status == string(stripe.SubscriptionStatusIncomplete)
	}
	return h.PendingUntil != nil
}

// withdraw takes back what waits for its money: a first subscription ends, an update's invoice is voided, and the
// update goes with it. Where that is refused because the money has come, nothing is taken back and nothing is wrong. Like
// release, it may be repeated.
func (s *Service) withdraw(ctx context.Context, c *Change, h *Held) (err error) {
	if c.Kind == Start {
		_, err = asked(s.stripe.Subscriptions.Cancel(h.ID, &stripe.SubscriptionCancelParams{Params: given(ctx, "")}))
	} else {
		_, err = asked(s.stripe.Invoices.VoidInvoice(h.Invoice, &stripe.InvoiceVoidInvoiceParams{Params: given(ctx, "")}))
	}
	if err != nil && (sortOf(err) == refused || sortOf(err) == missing) {
		return nil
	}
	return err
}

// compare is the verdict on a change that Stripe must not be asked for again: what Stripe holds decides.
func (s *Service) compare(ctx context.Context, t *tariff, c *Change) (*verdict, error) {
	h, err := s.result(ctx, t, c)
	if err != nil {
		return nil, err
	}
	gone := &verdict{state: Failed, failure: "expired", sub: c.Subscription, err: unavailable(nil)}
	switch {
	case h == nil:
		return gone, nil
	case c.Kind == PeriodEnd:
		made, err := s.scheduled(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		if leads(made, c.order.Items) || h.has(c.ToPlan, c.ToInterval) {
			return &verdict{state: Scheduled, sub: h.ID}, nil
		}
		if made != nil && made.ID != c.order.Release { // half made
			if err := s.release(ctx, made.ID); err != nil {
				return nil, err
			}
		}
		return gone, nil
	case c.Kind == Cancel:
		if h.CancelAtPeriodEnd || !h.Live() {
			return &verdict{state: Scheduled, sub: h.ID}, nil
		}
		return gone, nil
	}
	own, err := s.invoiceOf(ctx, c, h)
	if err != nil {
		return nil, err
	}
	switch v := c.paid(h, own); {
	case v != nil && (own != nil || c.Kind == Start || c.Expected == 0):
		return v, s.stay(ctx, c, v)
	case own == nil: // it has left no trace
		return gone, nil
	case own.Status == stripe.InvoiceStatusPaid: // it was, and something else is by now
		return &verdict{state: Applied, sub: h.ID, invoice: own.ID, amount: own.AmountDue}, nil
	default:
		return s.weigh(ctx, t, c, h, own)
	}
}

// result reads the subscription that a change is about; nil where a first one was never made.
func (s *Service) result(ctx context.Context, t *tariff, c *Change) (*Held, error) {
	if c.Kind != Start {
		return s.read(ctx, t, c.order.Subscription)
	}
	all, err := s.all(ctx, t, c.order.Customer)
	for _, h := range all {
		if h.change == c.ID.String() {
			return h, err
		}
	}
	return nil, err
}

// invoiceOf finds the invoice that a change has made, by its reason, the moment that it is prorated for and the price that
// it changed to; nil for none. One that another change is known to have made is not it: two may fall into one second.
func (s *Service) invoiceOf(ctx context.Context, c *Change, h *Held) (*stripe.Invoice, error) {
	taken, err := s.invoices(ctx, c)
	if err != nil {
		return nil, err
	}
	p := &stripe.InvoiceListParams{Subscription: &h.ID, CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: c.KeyedAt.Add(-time.Hour).Unix()}}
	p.Context, p.Limit = ctx, stripe.Int64(100)
	it := s.stripe.Invoices.List(p)
	var own *stripe.Invoice
	for it.Next() {
		inv := it.Invoice()
		switch {
		case taken[inv.ID] || inv.ID == c.order.Invoice:
		case c.Kind == Start && inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionCreate:
			own = inv
		case c.Kind == Now && inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionUpdate && c.made(inv):
			own = inv
		}
	}
	_, err = asked(struct{}{}, it.Err())
	return own, err
}

// invoices are those of the org's other changes.
func (s *Service) invoices(ctx context.Context, c *Change) (map[string]bool, error) {
	taken := map[string]bool{}
	err := s.App.View(ctx, c.org, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT invoice_id FROM plan_change WHERE org_id = $1 AND id <> $2 AND invoice_id <> ''`, tx.Org(), c.ID)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, one := range all {
			taken[one] = true
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read invoices of changes: %w", err)
	}
	return taken, nil
}

// made tells whether an invoice is prorated from the change's second on and charges for the plan that the change is to.
func (c *Change) made(inv *stripe.Invoice) bool {
	if inv.Lines == nil || len(c.order.Items) == 0 {
		return false
	}
	prorated, charged := false, false
	for _, l := range inv.Lines.Data {
		prorated = prorated || l.Proration && l.Period != nil && l.Period.Start == c.order.ProratedAt
		charged = charged || l.Price != nil && l.Price.ID == c.order.Items[0].Price && l.Amount >= 0
	}
	return prorated && charged
}

// confirming is the answer to somebody who asks again for what waits for their own confirmation.
func (s *Service) confirming(ctx context.Context, c *Change) (*Answer, error) {
	a := answered(c)
	p := &stripe.InvoiceParams{Params: given(ctx, "")}
	p.AddExpand("payment_intent")
	inv, err := asked(s.stripe.Invoices.Get(c.Invoice, p))
	if err != nil {
		return nil, err
	}
	if inv.PaymentIntent != nil {
		a.ClientSecret = inv.PaymentIntent.ClientSecret
	}
	a.HostedURL = inv.HostedInvoiceURL
	return a, nil
}

func stale() error {
	return fault.New(fault.PreviewStale, "What this preview was made for has changed. Ask for a new one.")
}

func turnedDown() error {
	return fault.New(fault.PaymentDeclined, "The payment was declined, and nothing was changed. Give another payment method by the billing portal and try again.")
}
