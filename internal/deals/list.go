package deals

import (
	"context"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Filter says which deals a list holds. The zero Filter holds every live one.
type Filter struct {
	Pipeline, Stage, Contact, Company, Owner *id.ID
	Status                                   string
	MinAmount, MaxAmount                     *int64     // inclusive, minor units whatever the currency
	ClosedAfter, ClosedBefore                *time.Time // exclusive
	Archived                                 bool       // the archived ones instead of the live ones
}

// orders are those of a list, by the names of its parameter.
var orders = map[string]record.Order[Deal]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: created},
	"created_at":  {Column: "created_at", Type: "timestamptz", Key: created},
	"-amount":     {Column: "amount", Type: "bigint", Down: true, Key: func(d *Deal) string { return strconv.FormatInt(d.Amount, 10) }},
	"expected_close_on": {Column: "expected_order", Type: "date", Key: func(d *Deal) string {
		if d.ExpectedCloseOn == nil {
			return "infinity"
		}
		return *d.ExpectedCloseOn
	}},
}

func created(d *Deal) string { return d.CreatedAt.UTC().Format(time.RFC3339Nano) }

func (f *Filter) query(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	q.Is("pipeline_id", f.Pipeline)
	q.Is("stage_id", f.Stage)
	q.Is("contact_id", f.Contact)
	q.Is("company_id", f.Company)
	q.Is("owner_id", f.Owner)
	if f.Status != "" {
		q.And("status = " + q.Arg(f.Status))
	}
	if f.MinAmount != nil {
		q.And("amount >= " + q.Arg(*f.MinAmount))
	}
	if f.MaxAmount != nil {
		q.And("amount <= " + q.Arg(*f.MaxAmount))
	}
	if f.ClosedAfter != nil {
		q.And("closed_at > " + q.Arg(*f.ClosedAfter))
	}
	if f.ClosedBefore != nil {
		q.And("closed_at < " + q.Arg(*f.ClosedBefore))
	}
	return q
}

// List answers at most limit deals of f in an order (-created_at, created_at, -amount, expected_close_on), beginning after
// a position or, with nil, at the start.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, order string, after *record.Position, limit int) ([]Row, error) {
	return table.List(ctx, tx, f.query(tx.Org()), orders[order], after, limit)
}

// Position is where a deal stands in an order.
func Position(order string, r *Row) record.Position {
	o := orders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// Count answers how many deals f holds, exactly.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Count(ctx, tx, f.query(tx.Org()))
}

// Estimate is exact up to 1,000, and beyond it what the planner expects.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Estimate(ctx, tx, f.query(tx.Org()))
}
