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
	BasePrice    = "base"
	OveragePrice = "overage" // for a client org above the plan's limit
)

// Price is a known price of Stripe.
type Price struct {
	ID, Kind, Plan, Interval string
	Amount                   int64
	Currency                 string
	Replaced                 bool
}

// Sold identifies a price that is for sale.
type Sold struct{ Kind, Plan, Interval string }

// Tariff holds every known price: those for sale and those that existing subscriptions may still use.
type Tariff struct {
	ByID    map[string]Price
	Current map[Sold]Price
}

// readTariff reads the prices; tx may be of any org.
func readTariff(ctx context.Context, tx *postgres.Tx) (*Tariff, error) {
	rows, err := tx.Query(ctx,
		`SELECT stripe_id, kind, plan, "interval", amount, currency, replaced FROM billing_price`)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Price])
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}

	t := &Tariff{ByID: map[string]Price{}, Current: map[Sold]Price{}}
	for _, p := range all {
		t.ByID[p.ID] = p
		if !p.Replaced {
			t.Current[Sold{Kind: p.Kind, Plan: p.Plan, Interval: p.Interval}] = p
		}
	}

	return t, nil
}

// Find returns the price of a plan that is for sale.
func (t *Tariff) Find(kind, plan, interval string) (Price, error) {
	p, ok := t.Current[Sold{Kind: kind, Plan: plan, Interval: interval}]
	if !ok {
		f := fault.New(fault.Unavailable, "This plan's price is not published yet. Retry shortly.")
		return p,
			f.Because(fmt.Errorf("no %s price of %s per %s: run `funnelwork billing sync`", kind, plan, interval))
	}
	return p, nil
}

// ReadTariff reads the prices.
func (s *Service) ReadTariff(ctx context.Context, org id.ID) (t *Tariff, err error) {
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		t, err = readTariff(ctx, tx)
		return err
	})
	return t, err
}
