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

// Rates makes the platform's percentage of an org's running sales what it is to be: the plan's, and 0 once the account was
// disconnected. The wish is written first. Stripe does not let us change the subscriptions of an account that has taken
// our access away: then the sale says when that was refused, and the wish is carried out if the access comes back.
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
		differ, err = sales(ctx, tx, `state = 'active' AND fee_bps <> fee_wanted AND (fee_refused_at IS NULL OR account = $2 AND $3) ORDER BY id`, c.Account, c.State != Disconnected)
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

// rate carries one wish to Stripe.
func (s *Service) rate(ctx context.Context, org id.ID, sale *Sale) error {
	p := &stripe.SubscriptionParams{Params: given(ctx, "")}
	p.SetStripeAccount(sale.Account)
	charging(p, sale.FeeWanted)
	_, err := asked(s.stripe.Subscriptions.Update(sale.Subscription, p))
	over := sortOf(err) == refused || sortOf(err) == missing // it has ended
	if err != nil && !lostAccess(err) && !over {
		return err
	}
	return s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		act := Act{Action: "connect.fee_changed", Target: "connect_sale", ID: sale.ID.String(), Detail: map[string]any{"from": plans.Percent(sale.FeeBPS), "to": plans.Percent(sale.FeeWanted)}}
		if err == nil {
			tx.Queue(`UPDATE connect_sale SET fee_bps = $3, fee_refused_at = NULL, updated_at = $4 WHERE org_id = $1 AND id = $2`, org, sale.ID, sale.FeeWanted, s.now())
		} else {
			tx.Queue(`UPDATE connect_sale SET fee_refused_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`, org, sale.ID, s.now())
			act.Action = "connect.fee_refused"
		}
		s.Audit(ctx, tx, act)
		return nil
	})
}

// seller is an org with sales that something may still happen to.
type seller struct {
	Org     id.ID
	Account string // that may be read; "" for none
	Begun   bool   // one has been in flight for some time
}

func (s *Service) sellers(ctx context.Context) (all []seller, err error) {
	err = s.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT s.org_id, coalesce(max(c.stripe_id) FILTER (WHERE c.state <> 'disconnected'), ''), bool_or(s.state = 'in_flight' AND s.created_at < $1)
			FROM connect_sale s JOIN connect_account c ON c.org_id = s.org_id WHERE s.state IN ('in_flight', 'active') GROUP BY s.org_id ORDER BY s.org_id`, s.now().Add(-abandoned))
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

// Sales goes on with the sales that a process left in flight, fetches the events of selling accounts that never came, and
// makes the percentages what they are to be. One org that fails stops no other.
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
			s.Log.ErrorContext(ctx, "a reseller's sales cannot be synced", "org", one.Org.String(), "error", redacted(err))
		default:
			r.Same++
		}
	}
	return r, nil
}

func (s *Service) tend(ctx context.Context, one seller, r *Report) error {
	if one.Begun {
		var left []*Sale
		err := s.App.View(ctx, one.Org, func(tx *postgres.Tx) (err error) {
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
		missed, err := s.missed(ctx, one.Account)
		r.Repaired += missed
		if err != nil && !lostAccess(err) {
			return err
		}
	}
	return s.Rates(ctx, one.Org)
}

func upper[T ~string](s T) string { return strings.ToUpper(string(s)) }
