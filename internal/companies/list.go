package companies

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Filter says which companies a list holds. The zero Filter holds every live one.
type Filter struct {
	Words    []string // folded, see filter.Words: each is the beginning of a word of name or domain
	Domain   string   // in the form of Domain
	Owner    *id.ID
	Archived bool // the archived ones instead of the live ones
}

// Orders are those of a list, by the names of its parameter.
var orders = map[string]record.Order[Company]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: created},
	"created_at":  {Column: "created_at", Type: "timestamptz", Key: created},
	"name":        {Column: "name_folded", Type: "text", Key: func(c *Company) string { return filter.Fold(c.Name) }},
}

func created(c *Company) string { return c.CreatedAt.UTC().Format(time.RFC3339Nano) }

// query is f in SQL. A word narrows by a range of words: in byte order every word that begins with w lies between w and
// w followed by the highest character.
func (f *Filter) query(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	if f.Domain != "" {
		q.And("domain = " + q.Arg(f.Domain))
	}
	q.Is("owner_id", f.Owner)
	for _, w := range f.Words {
		q.And("EXISTS (SELECT FROM company_word w WHERE w.org_id = $1 AND w.company_id = company.id AND w.word >= " + q.Arg(w) + " AND w.word < " + q.Arg(w+"\U0010FFFF") + ")")
	}
	return q
}

// List answers at most limit companies of f in an order (-created_at, created_at, name), beginning after a position or,
// with nil, at the start.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, order string, after *record.Position, limit int) ([]Row, error) {
	return table.List(ctx, tx, f.query(tx.Org()), orders[order], after, limit)
}

// Position is where a company stands in an order.
func Position(order string, r *Row) record.Position {
	o := orders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// Count answers how many companies f holds, exactly.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Count(ctx, tx, f.query(tx.Org()))
}

// Estimate is exact up to 1,000, and beyond it what the planner expects.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Estimate(ctx, tx, f.query(tx.Org()))
}
