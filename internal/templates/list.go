package templates

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// orders maps the values of the sort parameter to orders.
var orders = map[string]record.Order[Template]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: createdKey},
	"created_at":  {Column: "created_at", Type: "timestamptz", Key: createdKey},
	"name":        {Column: "name_folded", Type: "text", Key: func(t *Template) string { return compare.Text(t.Name) }},
}

func createdKey(t *Template) string { return t.CreatedAt.UTC().Format(time.RFC3339Nano) }

// List returns at most limit live templates, or archived ones, in an order (-created_at, created_at, name), starting
// after a position, or at the beginning if after is nil.
func List(ctx context.Context, tx *postgres.Tx, archived bool, order string, after *record.Position,
	limit int,
) ([]Row, error) {
	return table.List(ctx, tx, record.Where(tx.Org(), archived), orders[order], after, limit)
}

// Position returns the position of a template in an order.
func Position(order string, r *Row) record.Position {
	o := orders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// Count returns the exact number of live or of archived templates.
func Count(ctx context.Context, tx *postgres.Tx, archived bool) (int64, error) {
	return table.Count(ctx, tx, record.Where(tx.Org(), archived))
}

// Estimate returns the number of live or of archived templates: exact up to 1,000, above that the planner's estimate.
func Estimate(ctx context.Context, tx *postgres.Tx, archived bool) (int64, error) {
	return table.Estimate(ctx, tx, record.Where(tx.Org(), archived))
}
