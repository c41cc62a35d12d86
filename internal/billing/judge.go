package billing

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// judge says what a change came to, from what Stripe answered to it. That answer may be a replay of an old one; so
// unless it says that all is done, the subscription is looked at as it is now.
func (s *Service) judge(ctx context.Context, t *tariff, c *Change, got *stripe.Subscription) (*verdict, error) {
	h, err := t.held(got)
	if err != nil {
		return nil, err
	}
	if v := c.paid(h); v != nil {
		return v, nil
	}
	if h, err = s.read(ctx, t, h.ID); err != nil {
		return nil, err
	}
	if v := c.paid(h); v != nil {
		return v, nil
	}
	return s.weigh(ctx, t, c, h)
}

// paid is the verdict on a change whose subscription is what it asked for; nil where it is not.
func (c *Change) paid(h *Held) *verdict {
	if !h.has(c.ToPlan, c.ToInterval) || h.PendingUntil != nil {
		return nil
	}
	v := &verdict{state: Applied, sub: h.ID}
	if h.Invoice != c.order.Invoice && h.invoice != nil { // no invoice of its own: nothing was due
		v.invoice, v.amount = h.Invoice, h.invoice.AmountDue
	}
	return v
}

// weigh is the verdict on a change that Stripe has not applied: h, just read, says how its payment stands. What was
// declined is taken back before anybody is told, so that it cannot be paid later behind their back.
func (s *Service) weigh(ctx context.Context, t *tariff, c *Change, h *Held) (*verdict, error) {
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
	if v := c.paid(now); v != nil { // paid in the last moment
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
// update goes with it. Where that is refused because the money has come, nothing is taken back and nothing is wrong.
func (s *Service) withdraw(ctx context.Context, c *Change, h *Held) (err error) {
	if c.Kind == Start {
		_, err = asked(s.stripe.Subscriptions.Cancel(h.ID, &stripe.SubscriptionCancelParams{Params: given(ctx, c.Key+":withdraw")}))
	} else {
		_, err = asked(s.stripe.Invoices.VoidInvoice(h.Invoice, &stripe.InvoiceVoidInvoiceParams{Params: given(ctx, c.Key+":withdraw")}))
	}
	if err != nil && (sortOf(err) == refused || sortOf(err) == missing) {
		return nil
	}
	return err
}

// compare is the verdict on a change that Stripe must not be asked for again: what Stripe holds decides.
func (s *Service) compare(ctx context.Context, t *tariff, c *Change) (*verdict, error) {
	gone := &verdict{state: Failed, failure: "expired", sub: c.Subscription, err: unavailable(nil)}
	if c.Kind == Start {
		all, err := s.all(ctx, t, c.order.Customer)
		if err != nil {
			return nil, err
		}
		for _, h := range all {
			if h.change != c.ID.String() {
				continue
			}
			if v := c.paid(h); v != nil {
				return v, nil
			}
			return s.weigh(ctx, t, c, h)
		}
		return gone, nil
	}
	h, err := s.read(ctx, t, c.order.Subscription)
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case Now:
		if v := c.paid(h); v != nil {
			return v, nil
		}
		if h.Invoice != c.order.Invoice && h.PendingUntil != nil {
			return s.weigh(ctx, t, c, h)
		}
	case PeriodEnd:
		if h.Schedule != "" && h.Schedule != c.order.Release || h.has(c.ToPlan, c.ToInterval) {
			return &verdict{state: Scheduled, sub: h.ID}, nil
		}
	default:
		if h.CancelAtPeriodEnd || !h.Live() {
			return &verdict{state: Scheduled, sub: h.ID}, nil
		}
	}
	return gone, nil
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
