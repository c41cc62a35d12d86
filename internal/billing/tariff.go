package billing

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The kinds of prices.
const (
	base    = "base"
	overage = "overage" // for a client org above the plan's limit
)

// price is a known price of Stripe.
type price struct {
	ID, Kind, Plan, Interval string
	Amount                   int64
	Currency                 string
	Replaced                 bool
}

type sold struct{ Kind, Plan, Interval string }

// tariff holds every known price: those for sale and those that existing subscriptions may still use.
type tariff struct {
	byID    map[string]price
	current map[sold]price
}

// readTariff reads the prices; tx may be of any org.
func readTariff(ctx context.Context, tx *postgres.Tx) (*tariff, error) {
	rows, err := tx.Query(ctx,
		`SELECT stripe_id, kind, plan, "interval", amount, currency, replaced FROM billing_price`)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[price])
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	t := &tariff{byID: map[string]price{}, current: map[sold]price{}}
	for _, p := range all {
		t.byID[p.ID] = p
		if !p.Replaced {
			t.current[sold{p.Kind, p.Plan, p.Interval}] = p
		}
	}
	return t, nil
}

// find returns the price of a plan that is for sale.
func (t *tariff) find(kind, plan, interval string) (price, error) {
	p, ok := t.current[sold{kind, plan, interval}]
	if !ok {
		f := fault.New(fault.Unavailable, "This plan's price is not published yet. Retry shortly.")
		return p,
			f.Because(fmt.Errorf("no %s price of %s per %s: run `funnelwork billing sync`", kind, plan, interval))
	}
	return p, nil
}

// tariff reads the prices.
func (s *Service) tariff(ctx context.Context, org id.ID) (t *tariff, err error) {
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		t, err = readTariff(ctx, tx)
		return err
	})
	return t, err
}
