package change

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// compareState returns the outcome of a change that must not be requested again, from Stripe's current state.
func (s *Service) compareState(ctx context.Context, t *billing.Tariff, c *billing.Change) (*interpretation, error) {
	h, err := s.readOwnSubscription(ctx, t, c)
	if err != nil {
		return nil, err
	}

	gone := &interpretation{
		state: billing.Failed, failure: "expired", sub: c.Subscription,
		err: billing.Unavailable(nil),
	}
	switch {
	case h == nil:
		return gone, nil
	case c.Kind == billing.PeriodEnd:
		made, err := s.readSchedule(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		if leadsTo(made, c.Order.Items) || h.Has(c.ToPlan, c.ToInterval) {
			return &interpretation{state: billing.Scheduled, sub: h.ID}, nil
		}
		if made != nil && made.ID != c.Order.Release { // an incomplete schedule
			if err := s.releaseSchedule(ctx, made.ID); err != nil {
				return nil, err
			}
		}
		return gone, nil
	case c.Kind == billing.Cancel:
		if h.CancelAtPeriodEnd || !h.Live() {
			return &interpretation{state: billing.Scheduled, sub: h.ID}, nil
		}
		return gone, nil
	}

	own, err := s.invoiceOf(ctx, c, h)
	if err != nil {
		return nil, err
	}

	switch v := outcomeIfApplied(c, h, own); {
	case v != nil && (own != nil || c.Kind == billing.Start || c.Expected == 0):
		return v, s.undoCancellation(ctx, c, v)
	case own == nil: // no invoice: the change was never made
		return gone, nil
	case own.Status == stripe.InvoiceStatusPaid: // applied, and replaced since
		return &interpretation{state: billing.Applied, sub: h.ID, invoice: own.ID, amount: own.AmountDue}, nil
	default:
		return s.classifyPayment(ctx, t, c, h, own)
	}
}

// readOwnSubscription reads the change's subscription; nil if a first subscription was never created.
func (s *Service) readOwnSubscription(ctx context.Context, t *billing.Tariff, c *billing.Change,
) (*billing.StripeSubscription, error) {
	if c.Kind != billing.Start {
		return s.ReadSubscription(ctx, t, c.Order.Subscription)
	}

	all, err := s.ReadSubscriptions(ctx, t, c.Order.Customer)
	for _, h := range all {
		if h.ChangeID == c.ID.String() {
			return h, err
		}
	}

	return nil, err
}

// invoiceOf returns the change's invoice, or nil. It matches the billing reason, the proration time and the new price.
// It skips invoices known to belong to other changes, because two changes may be made within one second.
func (s *Service) invoiceOf(ctx context.Context, c *billing.Change, h *billing.StripeSubscription,
) (*stripe.Invoice, error) {
	taken, err := s.listOtherInvoices(ctx, c)
	if err != nil {
		return nil, err
	}

	p := &stripe.InvoiceListParams{
		Subscription: &h.ID,
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: c.KeyedAt.Add(-time.Hour).Unix()},
	}
	p.Context = ctx
	p.Limit = stripe.Int64(100)
	it := s.Stripe.Invoices.List(p)
	var own *stripe.Invoice

	for it.Next() {
		inv := it.Invoice()
		switch {
		case taken[inv.ID] || inv.ID == c.Order.Invoice:
		case c.Kind == billing.Start && inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionCreate:
			own = inv
		case c.Kind == billing.Now && inv.BillingReason == stripe.InvoiceBillingReasonSubscriptionUpdate &&
			isMadeBy(c, inv):
			own = inv
		}
	}

	_, err = billing.FromStripe(struct{}{}, it.Err())

	return own, err
}

// listOtherInvoices returns the invoices of the org's other changes.
func (s *Service) listOtherInvoices(ctx context.Context, c *billing.Change) (map[string]bool, error) {
	taken := map[string]bool{}
	err := s.App.ReadTx(ctx, c.Org, func(tx *postgres.Tx) error {
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

// isMadeBy reports whether an invoice is prorated from the change's proration date and charges for the change's new
// plan.
func isMadeBy(c *billing.Change, inv *stripe.Invoice) bool {
	if inv.Lines == nil || len(c.Order.Items) == 0 {
		return false
	}

	prorated := false
	charged := false
	for _, l := range inv.Lines.Data {
		prorated = prorated || l.Proration && l.Period != nil && l.Period.Start == c.Order.ProratedAt
		charged = charged || l.Price != nil && l.Price.ID == c.Order.Items[0].Price && l.Amount >= 0
	}

	return prorated && charged
}
