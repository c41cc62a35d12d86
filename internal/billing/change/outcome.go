package change

import (
	"context"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
)

// interpretation is the outcome of a change at Stripe.
type interpretation struct {
	state   string // Applied, Scheduled, ActionRequired or Failed
	failure string // why it failed
	amount  int64
	invoice string
	sub     string
	secret  string
	url     string
	until   *time.Time
	err     error // for the caller, if Failed
}

// undoCancellation takes back a pending cancellation after an upgrade: a customer who upgrades intends to stay.
func (s *Service) undoCancellation(ctx context.Context, c *billing.Change, v *interpretation) error {
	if v.state != billing.Applied || !c.Order.Uncancel {
		return nil
	}
	_, err := s.setRenewal(ctx, c.Order.Subscription, true)
	return err
}

// setRenewal sets whether the subscription renews at the end of its period. Like releaseSchedule, it is idempotent.
func (s *Service) setRenewal(ctx context.Context, sub string, on bool) (*stripe.Subscription, error) {
	return billing.FromStripe(s.Stripe.Subscriptions.Update(sub,
		&stripe.SubscriptionParams{Params: billing.Params(ctx, ""), CancelAtPeriodEnd: stripe.Bool(!on)}))
}

// outcomeIfApplied returns the outcome of a change if h has the requested items, and nil otherwise. own is the change's
// invoice, or nil if nothing was due.
func outcomeIfApplied(c *billing.Change, h *billing.StripeSubscription, own *stripe.Invoice) *interpretation {
	if !c.AppliedTo(h) {
		return nil
	}

	v := &interpretation{state: billing.Applied, sub: h.ID}
	if own != nil {
		v.invoice = own.ID
		v.amount = own.AmountDue
	}

	return v
}

// withdrawUnpaid takes back a change that waits for its payment: it cancels a first subscription, or voids an update's
// invoice, which also drops the update. If the invoice is already paid, Stripe refuses harmlessly. Like
// releaseSchedule, withdrawUnpaid is idempotent.
func (s *Service) withdrawUnpaid(ctx context.Context, c *billing.Change, h *billing.StripeSubscription) (err error) {
	if c.Kind == billing.Start {
		_, err = billing.FromStripe(s.Stripe.Subscriptions.Cancel(h.ID,
			&stripe.SubscriptionCancelParams{Params: billing.Params(ctx, "")}))
	} else {
		_, err = billing.FromStripe(s.Stripe.Invoices.VoidInvoice(h.Invoice,
			&stripe.InvoiceVoidInvoiceParams{Params: billing.Params(ctx, "")}))
	}

	if err != nil && (billing.Classify(err) == billing.Rejected || billing.Classify(err) == billing.NotFound) {
		return nil
	}

	return err
}
