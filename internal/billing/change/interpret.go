package change

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// interpretResponse returns the outcome of a change from Stripe's response. The response may be a replay of an earlier
// one, so unless it shows that the change is applied, interpretResponse reads the subscription's current state.
func (s *Service) interpretResponse(ctx context.Context, t *billing.Tariff, c *billing.Change, got *stripe.Subscription,
) (*interpretation, error) {
	h, err := t.Convert(got)
	if err != nil {
		return nil, err
	}

	own := h.LatestInvoice
	if h.Invoice == c.Order.Invoice { // no new invoice: nothing was due
		own = nil
	}
	if v := outcomeIfApplied(c, h, own); v != nil {
		return v, nil
	}
	if h, err = s.ReadSubscription(ctx, t, h.ID); err != nil {
		return nil, err
	}
	if v := outcomeIfApplied(c, h, own); v != nil {
		return v, nil
	}

	return s.classifyPayment(ctx, t, c, h, own)
}

// classifyPayment returns the outcome of a change that Stripe has not applied, from the payment state in h, which was
// just read. A declined change is withdrawn before the caller gets the error, so it cannot be charged later.
func (s *Service) classifyPayment(ctx context.Context, t *billing.Tariff, c *billing.Change,
	h *billing.StripeSubscription, own *stripe.Invoice,
) (*interpretation, error) {
	if !c.AwaitsPayment(h) {
		return &interpretation{state: billing.Failed, failure: "expired", sub: h.ID, err: stalePreview()}, nil
	}

	v := &interpretation{sub: h.ID, invoice: h.Invoice, until: h.PendingUntil}
	if h.LatestInvoice != nil {
		v.amount = h.LatestInvoice.AmountDue
		v.url = h.LatestInvoice.HostedInvoiceURL
		if pi := h.LatestInvoice.PaymentIntent; pi != nil {
			v.secret = pi.ClientSecret
			switch pi.Status {
			case stripe.PaymentIntentStatusRequiresAction, stripe.PaymentIntentStatusRequiresConfirmation,
				stripe.PaymentIntentStatusProcessing:
				v.state = billing.ActionRequired
			case stripe.PaymentIntentStatusRequiresPaymentMethod:
				if c.Kind == billing.Start && pi.LastPaymentError == nil { // no card yet: the customer adds one
					v.state = billing.ActionRequired
				}
			default:
			}
		}
	}
	if v.state == billing.ActionRequired {
		return v, nil
	}
	if err := s.withdrawUnpaid(ctx, c, h); err != nil {
		return nil, err
	}

	now, err := s.ReadSubscription(ctx, t, h.ID)
	if err != nil {
		return nil, err
	}
	if v := outcomeIfApplied(c, now, own); v != nil { // paid meanwhile
		return v, nil
	}
	if c.AwaitsPayment(now) {
		return billing.FromStripe((*interpretation)(nil),
			fmt.Errorf("change %s was declined and cannot be withdrawn", c.ID))
	}

	return &interpretation{
		state: billing.Failed, failure: string(fault.PaymentDeclined), sub: h.ID, invoice: h.Invoice,
		err: turnedDown(),
	}, nil
}

// answerToConfirm returns the answer to a repeated request for a change that awaits the customer's confirmation.
func (s *Service) answerToConfirm(ctx context.Context, c *billing.Change) (*Answer, error) {
	a := answerFor(c)
	p := &stripe.InvoiceParams{Params: billing.Params(ctx, "")}
	p.AddExpand("payment_intent")
	inv, err := billing.FromStripe(s.Stripe.Invoices.Get(c.Invoice, p))
	if err != nil {
		return nil, err
	}
	if inv.PaymentIntent != nil {
		a.ClientSecret = inv.PaymentIntent.ClientSecret
	}

	a.HostedURL = inv.HostedInvoiceURL

	return a, nil
}
