package change

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// executeChange makes the requests of a recorded change and closes it with their outcome.
func (s *Service) executeChange(ctx context.Context, org id.ID, c *billing.Change, call Call) (*Answer, error) {
	t, err := s.ReadTariff(ctx, org)
	if err != nil {
		return nil, err
	}

	c.Org = org
	v, err := s.callStripe(ctx, t, c)
	if err != nil {
		return nil, err // still in flight: its job continues it
	}
	if v.state == billing.Failed && c.Order.Release != "" {
		if err := s.restoreScheduled(ctx, org, c); err != nil {
			return nil, err
		}
	}
	if err := s.At(ctx, "asked"); err != nil {
		return nil, err
	}

	return s.closeChange(ctx, org, c, v, call)
}

// restoreScheduled schedules again the change that was scheduled before the failed one.
func (s *Service) restoreScheduled(ctx context.Context, org id.ID, failed *billing.Change) error {
	d, err := s.ReadState(ctx, org)
	if err != nil {
		return err
	}

	c := d.Scheduled()
	if c == nil || c.Kind != billing.PeriodEnd {
		return nil
	}

	again := *c
	// scheduleSwap reads the existing schedule first, so any new key is safe
	again.Key = failed.Key + ":" + id.New().String()
	again.Order.Uncancel = false
	_, err = s.scheduleSwap(ctx, &again)

	return err
}

// callStripe makes the change's requests with the change's keys. An error means that the outcome is unknown and that
// the change may be executed again.
func (s *Service) callStripe(ctx context.Context, t *billing.Tariff, c *billing.Change) (*interpretation, error) {
	if s.Now().Sub(c.KeyedAt) >= billing.KeyLife {
		return s.compareState(ctx, t, c)
	}

	v, err := s.requestByKind(ctx, t, c)
	if err == nil {
		return v, nil
	}

	var e *stripe.Error
	if !errors.As(err, &e) {
		return nil, err
	}

	switch {
	case billing.IsStored(err) && s.Now().Sub(c.KeyedAt) >= billing.FinalAfter:
		return s.compareState(ctx, t, c)
	case billing.Classify(err) == billing.CardDeclined:
		return &interpretation{
			state: billing.Failed, failure: string(fault.PaymentDeclined), sub: c.Subscription,
			err: billing.AsFault(err),
		}, nil
	case billing.Classify(err) == billing.Rejected, billing.Classify(err) == billing.NotFound:
		s.Log.ErrorContext(ctx, "stripe refused a change of plan", "change", c.ID.String(), "error",
			billing.Redacted(err))
		f := fault.New(fault.PreviewStale,
			"The subscription has changed since this change was requested. Request a new preview.")
		return &interpretation{
			state: billing.Failed, failure: "refused", sub: c.Subscription,
			err: f.Because(billing.Redacted(err)),
		}, nil
	default:
		return nil, err
	}
}

// requestByKind makes the requests for the change's kind.
func (s *Service) requestByKind(ctx context.Context, t *billing.Tariff, c *billing.Change) (*interpretation, error) {
	o := c.Order
	if o.Release != "" {
		if err := s.releaseSchedule(ctx, o.Release); err != nil {
			return nil, err
		}
	}

	switch c.Kind {
	case billing.Start:
		return s.createSubscription(ctx, t, c)
	case billing.Now:
		return s.swapItems(ctx, t, c)
	case billing.PeriodEnd:
		return s.scheduleSwap(ctx, c)
	default:
		_, err := s.setRenewal(ctx, o.Subscription, false)
		return &interpretation{state: billing.Scheduled, sub: o.Subscription}, err
	}
}

// createSubscription creates the org's first subscription. The customer's payment method is charged at once; without
// one, the subscription waits until the customer provides it.
func (s *Service) createSubscription(ctx context.Context, t *billing.Tariff, c *billing.Change,
) (*interpretation, error) {
	p := &stripe.SubscriptionParams{
		Params: billing.Params(ctx, c.Key), Customer: &c.Order.Customer, PaymentBehavior: &c.Order.Pay,
		Metadata: map[string]string{"change_id": c.ID.String()},
	}
	for _, i := range c.Order.Items {
		p.Items = append(p.Items,
			&stripe.SubscriptionItemsParams{Price: stripe.String(i.Price), Quantity: stripe.Int64(i.Quantity)})
	}

	p.AddExpand(billing.PaymentIntentPath)
	got, err := billing.FromStripe(s.Stripe.Subscriptions.New(p))
	if err != nil {
		return nil, err
	}

	return s.interpretResponse(ctx, t, c, got)
}

// swapItems replaces the items of the subscription. Stripe applies the swap only when its invoice is paid.
func (s *Service) swapItems(ctx context.Context, t *billing.Tariff, c *billing.Change) (*interpretation, error) {
	p := &stripe.SubscriptionParams{
		Params: billing.Params(ctx, c.Key), ProrationBehavior: stripe.String("always_invoice"),
		ProrationDate:   &c.Order.ProratedAt,
		PaymentBehavior: stripe.String("pending_if_incomplete"), Items: itemUpdates(c.Order.Items),
	}
	p.AddExpand(billing.PaymentIntentPath)
	got, err := billing.FromStripe(s.Stripe.Subscriptions.Update(c.Order.Subscription, p))
	if err != nil {
		return nil, err
	}

	v, err := s.interpretResponse(ctx, t, c, got)
	if err != nil {
		return nil, err
	}

	return v, s.undoCancellation(ctx, c, v)
}
