package companies

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Filter selects the companies of a list. The zero Filter selects every live company.
type Filter struct {
	Words  []string // folded, see filter.Words: each is a prefix of a word of name or domain
	Domain string   // normalized by Domain
	Owner  *id.ID

	ExternalID *externalid.Key
	Archived   bool // select archived companies instead of live ones
}

// orders maps the values of the sort parameter to orders.
var orders = map[string]record.Order[Company]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: createdKey},
	"created_at":  {Column: "created_at", Type: "timestamptz", Key: createdKey},
	"name":        {Column: "name_folded", Type: "text", Key: func(c *Company) string { return compare.Text(c.Name) }},
}

func createdKey(c *Company) string { return c.CreatedAt.UTC().Format(time.RFC3339Nano) }

// buildQuery converts f to SQL. A word becomes a range condition: in byte order, every word that begins with w lies
// between w and w followed by the highest character.
func (f *Filter) buildQuery(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	if f.Domain != "" {
		q.And("domain = " + q.Arg(f.Domain))
	}
	q.Is("owner_id", f.Owner)
	q.HasExternalID(externalid.Company, f.ExternalID)
	for _, w := range f.Words {
		q.And("EXISTS (SELECT FROM company_word w WHERE w.org_id = $1 AND w.company_id = company.id AND w.word >= " +
			q.Arg(w) + " AND w.word < " + q.Arg(w+"\U0010FFFF") + ")")
	}
	return q
}

// List returns at most limit companies selected by f in an order (-created_at, created_at, name), starting after a
// position, or at the beginning if after is nil.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, order string, after *record.Position, limit int) ([]Row,
	error,
) {
	return table.List(ctx, tx, f.buildQuery(tx.Org()), orders[order], after, limit)
}

// Position returns the position of a company in an order.
func Position(order string, r *Row) record.Position {
	o := orders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// Count returns the exact number of companies that f selects.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Count(ctx, tx, f.buildQuery(tx.Org()))
}

// Estimate returns the number of companies that f selects: exact up to 1,000, above that the planner's estimate.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	return table.Estimate(ctx, tx, f.buildQuery(tx.Org()))
}

// Search returns at most limit live companies, newest first, that have a word in their name or domain for each of
// words, which are folded (see filter.Words): the word or a longer one that begins with it.
func Search(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]Row, error) {
	return table.Search(ctx, tx, "company_word", "company_id", words, limit)
}
