package connect

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// WorkEvent processes an event of the org's account.
func (s *Service) WorkEvent(ctx context.Context, org id.ID, e *billing.Event,
	mark func(outcome string) func(context.Context, *postgres.Tx) error,
) error {
	c, err := s.readStored(ctx, org)
	if err != nil {
		return err
	}
	if c.ID != e.Account { // an event of a former account of the org
		return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) })
	}

	switch stripe.EventType(e.Type) {
	case stripe.EventTypeAccountUpdated, stripe.EventTypeAccountApplicationAuthorized,
		stripe.EventTypeAccountApplicationDeauthorized,
		stripe.EventTypeAccountExternalAccountCreated, stripe.EventTypeAccountExternalAccountDeleted,
		stripe.EventTypeAccountExternalAccountUpdated,
		stripe.EventTypeCapabilityUpdated:
		changed, err := s.RefreshAccount(ctx, org, billing.ByEvent, mark("applied"))
		if err != nil || !changed {
			return err
		}
		if err := s.Rates(ctx, org); err != nil { // the sync retries it
			s.Log.WarnContext(ctx, "update of a reseller's fees failed", "org_id", org.String(),
				"error", billing.Redacted(err))
		}
		return nil
	case stripe.EventTypeInvoicePaid, stripe.EventTypeChargeSucceeded, stripe.EventTypeChargeUpdated,
		stripe.EventTypeChargeRefunded:
		return s.workPayment(ctx, org, c.ID, hintOf(e.Payload), mark)
	case stripe.EventTypeCustomerSubscriptionDeleted, stripe.EventTypeCustomerSubscriptionUpdated:
		return s.workSale(ctx, org, c.ID, hintOf(e.Payload), mark)
	default:
		return s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) })
	}
}

// OwnerOf returns the org of a connected account, or the zero id if no org has it. The result is not cached,
// because an org's account may change.
func (s *Service) OwnerOf(ctx context.Context, account string) (org id.ID, err error) {
	if account == "" {
		return org, nil
	}

	err = s.System.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT org_id FROM connect_account WHERE stripe_id = $1`, []any{account}, &org)
	})
	if err != nil && !postgres.None(err) {
		return org, fmt.Errorf("find connected account: %w", err)
	}

	return org, nil
}

// MustFetch reports whether the sync has to fetch an event of a connected account, because WorkEvent handles it.
func MustFetch(e *stripe.Event) bool {
	switch e.Type {
	case stripe.EventTypeInvoicePaid, stripe.EventTypeChargeSucceeded, stripe.EventTypeChargeUpdated,
		stripe.EventTypeChargeRefunded,
		stripe.EventTypeCustomerSubscriptionDeleted, stripe.EventTypeCustomerSubscriptionUpdated:
		return true
	default:
		return false // ReconcileAccounts reads the account itself
	}
}
