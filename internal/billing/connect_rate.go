package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stripe/stripe-go/v76"

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
		c, err := readConnected(ctx, tx, " FOR UPDATE")
		if err != nil {
			return err
		}
		r, err := s.Catalogue.In(ctx, tx)
		if err != nil {
			return err
		}
		tx.Queue(`UPDATE connect_sale SET fee_wanted = CASE WHEN account = $2 AND $3 THEN $4 ELSE 0 END, updated_at = $5
			WHERE org_id = $1 AND state = 'active' AND fee_wanted <> CASE WHEN account = $2 AND $3 THEN $4 ELSE 0 END`,
			org, c.Account, c.State != Disconnected, int(s.Catalogue.ConnectFee(&r)), s.now())
		differ, err = sales(ctx, tx,
			`state = 'active' AND fee_bps <> fee_wanted AND (fee_refused_at IS NULL OR account = $2 AND $3)
				ORDER BY id`, c.Account, c.State != Disconnected)
		return err
	})
	if err != nil {
		return err
	}
	var failed []error
	for _, sale := range differ {
		failed = append(failed, s.rate(ctx, org, sale))
	}
	return errors.Join(failed...)
}

// rate applies one sale's target rate at Stripe.
func (s *Service) rate(ctx context.Context, org id.ID, sale *Sale) error {
	p := &stripe.SubscriptionParams{Params: given(ctx, "")}
	p.SetStripeAccount(sale.Account)
	charging(p, sale.FeeWanted)
	_, err := asked(s.stripe.Subscriptions.Update(sale.Subscription, p))
	over := sortOf(err) == refused || sortOf(err) == missing // the subscription has ended
	if err != nil && !lostAccess(err) && !over {
		return err
	}
	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		act := Act{
			Action: "connect.fee_changed", Target: "connect_sale", ID: sale.ID.String(),
			Detail: map[string]any{"from": plans.Percent(sale.FeeBPS), "to": plans.Percent(sale.FeeWanted)},
		}
		if err == nil {
			tx.Queue(`UPDATE connect_sale SET fee_bps = $3, fee_refused_at = NULL, updated_at = $4
				WHERE org_id = $1 AND id = $2`, org, sale.ID, sale.FeeWanted, s.now())
		} else {
			tx.Queue(`UPDATE connect_sale SET fee_refused_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`,
				org, sale.ID, s.now())
			act.Action = "connect.fee_refused"
		}
		s.Audit(ctx, tx, act)
		return nil
	})
}

// seller is an org with sales that are in flight or active.
type seller struct {
	Org     id.ID
	Account string // an account that we can access; "": none
	Begun   bool   // a sale has been in flight for longer than abandoned
}

func (s *Service) sellers(ctx context.Context) (all []seller, err error) {
	err = s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT s.org_id, coalesce(max(c.stripe_id) FILTER (WHERE c.state <> 'disconnected'), ''),
			bool_or(s.state = 'in_flight' AND s.created_at < $1)
			FROM connect_sale s JOIN connect_account c ON c.org_id = s.org_id
			WHERE s.state IN ('in_flight', 'active') GROUP BY s.org_id ORDER BY s.org_id`, s.now().Add(-abandoned))
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[seller])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sellers: %w", err)
	}
	return all, nil
}

// Sales continues the sales that a process left in flight, fetches missed events of selling accounts, and updates the
// percentages. An org that fails does not stop the others.
func (s *Service) Sales(ctx context.Context) (Report, error) {
	var r Report
	all, err := s.sellers(ctx)
	if err != nil {
		return r, err
	}
	pace := newPace(s.Now, s.Sleep)
	for _, one := range all {
		err := pace.do(ctx, func() error {
			r.Requests++
			return s.tend(ctx, one, &r)
		})
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case err != nil:
			r.Failed++
			s.Log.ErrorContext(ctx, "sync of a reseller's sales failed", "org_id", one.Org.String(), "error",
				redacted(err))
		default:
			r.Same++
		}
	}
	return r, nil
}

func (s *Service) tend(ctx context.Context, one seller, r *Report) error {
	if one.Begun {
		var left []*Sale
		err := s.App.ReadTx(ctx, one.Org, func(tx *postgres.Tx) (err error) {
			left, err = sales(ctx, tx, `state = 'in_flight' AND created_at < $2 ORDER BY id`, s.now().Add(-abandoned))
			return err
		})
		if err != nil {
			return err
		}
		for _, sale := range left {
			if err := s.resume(ctx, one.Org, sale); err != nil {
				return err
			}
			r.Repaired++
		}
	}
	if one.Account != "" {
		missed, err := s.fetchMissedEvents(ctx, one.Account)
		r.Repaired += missed
		if err != nil && !lostAccess(err) {
			return err
		}
	}
	return s.Rates(ctx, one.Org)
}

func upper[T ~string](s T) string { return strings.ToUpper(string(s)) }
