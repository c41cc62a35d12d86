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

// interpret returns the outcome of a change from Stripe's response. The response may be a replay of an earlier one, so
// unless it shows that the change is applied, interpret reads the subscription's current state.
func (s *Service) interpret(ctx context.Context, t *tariff, c *Change, got *stripe.Subscription) (*interpretation,
	error,
) {
	h, err := t.held(got)
	if err != nil {
		return nil, err
	}
	own := h.invoice
	if h.Invoice == c.order.Invoice { // no new invoice: nothing was due
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
	return s.classifyPayment(ctx, t, c, h, own)
}

// paid returns the outcome of a change if h has the requested items, and nil otherwise. own is the change's invoice, or
// nil if nothing was due.
func (c *Change) paid(h *StripeSubscription, own *stripe.Invoice) *interpretation {
	if !h.has(c.ToPlan, c.ToInterval) || h.PendingUntil != nil {
		return nil
	}
	v := &interpretation{state: Applied, sub: h.ID}
	if own != nil {
		v.invoice, v.amount = own.ID, own.AmountDue
	}
	return v
}

// classifyPayment returns the outcome of a change that Stripe has not applied, from the payment state in h, which was
// just read. A declined change is withdrawn before the caller gets the error, so it cannot be charged later.
func (s *Service) classifyPayment(ctx context.Context, t *tariff, c *Change, h *StripeSubscription,
	own *stripe.Invoice,
) (*interpretation, error) {
	if !c.outstanding(h) {
		return &interpretation{state: Failed, failure: "expired", sub: h.ID, err: stale()}, nil
	}
	v := &interpretation{sub: h.ID, invoice: h.Invoice, until: h.PendingUntil}
	if h.invoice != nil {
		v.amount, v.url = h.invoice.AmountDue, h.invoice.HostedInvoiceURL
		if pi := h.invoice.PaymentIntent; pi != nil {
			v.secret = pi.ClientSecret
			switch pi.Status {
			case stripe.PaymentIntentStatusRequiresAction, stripe.PaymentIntentStatusRequiresConfirmation,
				stripe.PaymentIntentStatusProcessing:
				v.state = ActionRequired
			case stripe.PaymentIntentStatusRequiresPaymentMethod:
				if c.Kind == Start && pi.LastPaymentError == nil { // no card yet: the customer adds one
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
	if v := c.paid(now, own); v != nil { // paid meanwhile
		return v, nil
	}
	if c.outstanding(now) {
		return nil, &broken{fmt.Errorf("change %s was declined and cannot be withdrawn", c.ID)}
	}
	return &interpretation{
		state: Failed, failure: string(fault.PaymentDeclined), sub: h.ID, invoice: h.Invoice,
		err: turnedDown(),
	}, nil
}

// outstanding reports whether h still waits for the change's payment.
func (c *Change) outstanding(h *StripeSubscription) bool {
	if c.Kind == Start {
		return h.Status == string(stripe.SubscriptionStatusIncomplete)
	}
	return h.PendingUntil != nil
}

// withdraw takes back a change that waits for its payment: it cancels a first subscription, or voids an update's
// invoice, which also drops the update. If the invoice is already paid, Stripe refuses harmlessly. Like release,
// withdraw is idempotent.
func (s *Service) withdraw(ctx context.Context, c *Change, h *StripeSubscription) (err error) {
	if c.Kind == Start {
		_, err = asked(s.stripe.Subscriptions.Cancel(h.ID, &stripe.SubscriptionCancelParams{Params: given(ctx, "")}))
	} else {
		_, err = asked(s.stripe.Invoices.VoidInvoice(h.Invoice,
			&stripe.InvoiceVoidInvoiceParams{Params: given(ctx, "")}))
	}
	if err != nil && (sortOf(err) == refused || sortOf(err) == missing) {
		return nil
	}
	return err
}

// compare returns the outcome of a change that must not be requested again, from Stripe's current state.
func (s *Service) compare(ctx context.Context, t *tariff, c *Change) (*interpretation, error) {
	h, err := s.result(ctx, t, c)
	if err != nil {
		return nil, err
	}
	gone := &interpretation{state: Failed, failure: "expired", sub: c.Subscription, err: unavailable(nil)}
	switch {
	case h == nil:
		return gone, nil
	case c.Kind == PeriodEnd:
		made, err := s.scheduled(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		if leads(made, c.order.Items) || h.has(c.ToPlan, c.ToInterval) {
			return &interpretation{state: Scheduled, sub: h.ID}, nil
		}
		if made != nil && made.ID != c.order.Release { // an incomplete schedule
			if err := s.release(ctx, made.ID); err != nil {
				return nil, err
			}
		}
		return gone, nil
	case c.Kind == Cancel:
		if h.CancelAtPeriodEnd || !h.Live() {
			return &interpretation{state: Scheduled, sub: h.ID}, nil
		}
		return gone, nil
	}
	own, err := s.invoiceOf(ctx, c, h)
	if err != nil {
		return nil, err
	}
	switch v := c.paid(h, own); {
	case v != nil && (own != nil || c.Kind == Start || c.Expected == 0):
		return v, s.undoCancellation(ctx, c, v)
	case own == nil: // no invoice: the change was never made
		return gone, nil
	case own.Status == stripe.InvoiceStatusPaid: // applied, and replaced since
		return &interpretation{state: Applied, sub: h.ID, invoice: own.ID, amount: own.AmountDue}, nil
	default:
		return s.classifyPayment(ctx, t, c, h, own)
	}
}

// result reads the change's subscription; nil if a first subscription was never created.
func (s *Service) result(ctx context.Context, t *tariff, c *Change) (*StripeSubscription, error) {
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

// invoiceOf returns the change's invoice, or nil. It matches the billing reason, the proration time and the new price.
// It skips invoices known to belong to other changes, because two changes may be made within one second.
func (s *Service) invoiceOf(ctx context.Context, c *Change, h *StripeSubscription) (*stripe.Invoice, error) {
	taken, err := s.invoices(ctx, c)
	if err != nil {
		return nil, err
	}
	p := &stripe.InvoiceListParams{
		Subscription: &h.ID,
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: c.KeyedAt.Add(-time.Hour).Unix()},
	}
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

// invoices returns the invoices of the org's other changes.
func (s *Service) invoices(ctx context.Context, c *Change) (map[string]bool, error) {
	taken := map[string]bool{}
	err := s.App.ReadTx(ctx, c.org, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT invoice_id FROM plan_change WHERE org_id = $1 AND id <> $2 AND invoice_id <> ''`, tx.Org(), c.ID)
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

// made reports whether an invoice is prorated from the change's proration date and charges for the change's new plan.
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

// confirming returns the answer to a repeated request for a change that awaits the customer's confirmation.
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
	return fault.New(fault.PreviewStale, "The subscription has changed since this preview. Request a new one.")
}

func turnedDown() error {
	return fault.New(fault.PaymentDeclined,
		"The payment was declined, and nothing was changed. Add another payment method in the billing portal and "+
			"try again.")
}
