package sequences

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// orders maps the values of the sort parameter to orders.
var orders = map[string]record.Order[Sequence]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: createdKey},
	"created_at":  {Column: "created_at", Type: "timestamptz", Key: createdKey},
	"name":        {Column: "name_folded", Type: "text", Key: func(s *Sequence) string { return compare.Text(s.Name) }},
}

func createdKey(s *Sequence) string { return s.CreatedAt.UTC().Format(time.RFC3339Nano) }

// Filter selects the sequences of a list. The zero Filter selects every one that was not deleted.
type Filter struct {
	Status  string // "": all
	Deleted bool   // select deleted sequences instead of the others
}

func (f Filter) listQuery(org id.ID) *record.Query {
	q := record.Where(org, f.Deleted)
	if f.Status != "" {
		q.And("status = " + q.Arg(f.Status))
	}
	return q
}

// List returns at most limit sequences in an order (-created_at, created_at, name), starting after a position, or at
// the beginning if after is nil.
func List(ctx context.Context, tx *postgres.Tx, f Filter, order string, after *record.Position, limit int,
) ([]Row, error) {
	return table.List(ctx, tx, f.listQuery(tx.Org()), orders[order], after, limit)
}

// Position returns the position of a sequence in an order.
func Position(order string, r *Row) record.Position {
	o := orders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// Count returns the exact number of sequences that f selects.
func Count(ctx context.Context, tx *postgres.Tx, f Filter) (int64, error) {
	return table.Count(ctx, tx, f.listQuery(tx.Org()))
}

// Estimate returns the number of sequences that f selects: exact up to 1,000, above that the planner's estimate.
func Estimate(ctx context.Context, tx *postgres.Tx, f Filter) (int64, error) {
	return table.Estimate(ctx, tx, f.listQuery(tx.Org()))
}
