package deals

import (
	"context"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Filter selects the deals of a list. The zero Filter selects every live deal.
type Filter struct {
	Pipeline, Stage, Contact, Company, Owner *id.ID
	ExternalID                               *externalid.Key
	Status                                   string
	MinAmount, MaxAmount                     *int64     // inclusive; minor units, whatever the currency
	ClosedAfter, ClosedBefore                *time.Time // exclusive
	Archived                                 bool       // select archived deals instead of live ones
}

// orders maps the values of the sort parameter to orders.
var orders = map[string]record.Order[Deal]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: createdKey},
	"created_at":  {Column: "created_at", Type: "timestamptz", Key: createdKey},
	"-amount": {Column: "amount", Type: "bigint", Down: true, Key: func(d *Deal) string {
		return strconv.FormatInt(d.Amount, 10)
	}},
	"expected_close_on": {Column: "expected_order", Type: "date", Key: func(d *Deal) string {
		if d.ExpectedCloseOn == nil {
			return "infinity"
		}
		return *d.ExpectedCloseOn
	}},
}

func createdKey(d *Deal) string { return d.CreatedAt.UTC().Format(time.RFC3339Nano) }

func (f *Filter) buildQuery(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	q.Is("pipeline_id", f.Pipeline)
	q.Is("stage_id", f.Stage)
	q.Is("contact_id", f.Contact)
	q.Is("company_id", f.Company)
	q.Is("owner_id", f.Owner)
	q.HasExternalID(externalid.Deal, f.ExternalID)
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

// List returns at most limit deals selected by f in an order (-created_at, created_at, -amount, expected_close_on),
// starting after a position, or at the beginning if after is nil.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, order string, after *record.Position, limit int) ([]Row,
	error,
) {
	return table.List(ctx, tx, f.buildQuery(tx.Org()), orders[order], after, limit)
}

// Position returns the position of a deal in an order.
func Position(order string, r *Row) record.Position {
	o := orders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// Count returns the exact number of deals that f selects.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Count(ctx, tx, f.buildQuery(tx.Org()))
}

// Estimate returns the number of deals that f selects: exact up to 1,000, above that the planner's estimate.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Estimate(ctx, tx, f.buildQuery(tx.Org()))
}
