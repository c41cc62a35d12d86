package connect

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Rates sets the platform's percentage on the org's active sales to the plan's, or to 0 after the account was
// disconnected. It stores the target rate first. Stripe does not let us change subscriptions of an account that has
// revoked our access: then Rates records on the sale when the change was refused, and applies it if access is restored.
func (s *Service) Rates(ctx context.Context, org id.ID) error {
	var differ []*Sale
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		c, err := readRow(ctx, tx, " FOR UPDATE")
		if err != nil {
			return err
		}

		r, err := s.Catalogue.In(ctx, tx)
		if err != nil {
			return err
		}

		tx.Queue(`UPDATE connect_sale SET fee_wanted = CASE WHEN account = $2 AND $3 THEN $4 ELSE 0 END, updated_at = $5
			WHERE org_id = $1 AND state = 'active' AND fee_wanted <> CASE WHEN account = $2 AND $3 THEN $4 ELSE 0 END`,
			org, c.ID, c.State != Disconnected, int(s.Catalogue.ConnectFee(&r)), s.Timestamp())
		differ, err = listSales(ctx, tx,
			`state = 'active' AND fee_bps <> fee_wanted AND (fee_refused_at IS NULL OR account = $2 AND $3)
				ORDER BY id`, c.ID, c.State != Disconnected)

		return err
	})
	if err != nil {
		return err
	}

	var failed []error
	for _, sale := range differ {
		failed = append(failed, s.applyRate(ctx, org, sale))
	}

	return errors.Join(failed...)
}

// applyRate applies one sale's target rate at Stripe.
func (s *Service) applyRate(ctx context.Context, org id.ID, sale *Sale) error {
	p := &stripe.SubscriptionParams{Params: billing.Params(ctx, "")}
	p.SetStripeAccount(sale.Account)
	setFeePercent(p, sale.FeeWanted)
	_, err := billing.FromStripe(s.Stripe.Subscriptions.Update(sale.Subscription, p))
	class := billing.Classify(err)
	over := class == billing.Rejected || class == billing.NotFound // the subscription has ended
	if err != nil && !LostAccess(err) && !over {
		return err
	}

	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		act := billing.Act{
			Action: "connect.fee_changed", Target: "connect_sale", ID: sale.ID.String(),
			Detail: map[string]any{"from": plans.Percent(sale.FeeBPS), "to": plans.Percent(sale.FeeWanted)},
		}
		if err == nil {
			tx.Queue(`UPDATE connect_sale SET fee_bps = $3, fee_refused_at = NULL, updated_at = $4
				WHERE org_id = $1 AND id = $2`, org, sale.ID, sale.FeeWanted, s.Timestamp())
		} else {
			tx.Queue(`UPDATE connect_sale SET fee_refused_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`,
				org, sale.ID, s.Timestamp())
			act.Action = "connect.fee_refused"
		}

		s.Audit(ctx, tx, act)

		return nil
	})
}
