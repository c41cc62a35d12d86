package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Statement returns the SQL of a list in which the planner chooses the way.
func Statement(org id.ID, f *Filter, s Sort, after *Position, limit int) (string, []any, error) {
	q, sql, err := newPage(org, f.afterPosition(s, after), s, after, limit).plannedQuery()
	if err != nil {
		return "", nil, err
	}
	return sql, q.args, err
}

// PageWays returns the statements of a page: with sets, with a stretch of n contacts, and gathered by each condition
// that an index serves.
func PageWays(org id.ID, f *Filter, s Sort, after *Position, limit, n int) (sql []string, args [][]any, err error) {
	p := newPage(org, f.afterPosition(s, after), s, after, limit)
	ways := []func() (*query, string, error){p.lookUpInSets}
	if len(p.rest) > 0 {
		ways = append(ways, func() (*query, string, error) { return p.stretchQuery(n) })
	}
	for _, part := range p.rest {
		if hasIndex(part) {
			ways = append(ways, func() (*query, string, error) { return p.gatherSet(part, 1_000_000) })
		}
	}
	for _, way := range ways {
		q, text, err := way()
		if err != nil {
			return nil, nil, err
		}
		sql, args = append(sql, text), append(args, q.args)
	}
	return sql, args, nil
}

// OfText returns the pages by way of the contacts that contain a text: gathered, and looked up in list order. It
// returns none if f has no such condition.
func OfText(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int) (pages [][]Row,
	err error,
) {
	p := newPage(tx.Org(), f.afterPosition(s, after), s, after, limit)
	text := p.textSearch()
	if text == nil {
		return nil, nil
	}
	for _, few := range []int{-1, 1_000_000} {
		rows, err := p.ofText(ctx, tx, text, few, 1_000_000)
		if err != nil {
			return nil, err
		}
		if rows != nil {
			pages = append(pages, rows)
		}
	}
	return pages, nil
}

// Planning holds the planner settings of lists.
const Planning = planning

// Condition returns the condition of f on the rows c and s of live contacts. args starts with the org.
func Condition(f *filter.Filter, args *[]any) string {
	q := &query{args: *args, shelf: "false", live: "IS NULL"}
	sql := f.SQL(q.fieldColumn, q.arg)
	*args = q.args
	return sql
}

// Both selects the rows c and s of live contacts.
const Both = both + " WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL AND s.archived = false"

// Search is List for words, with the given thresholds between the strategies. The word index is read unless the first
// contact of the list fills the page.
func Search(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position,
	limit, few, companies, stretch int,
) ([]Row, error) {
	usual := usualEffort()

	return searchWords(ctx, tx, f, s, after, limit, effort{
		few: few, companies: companies, stretch: stretch, first: 1, marks: usual.marks, most: usual.most,
	})
}

// Ways returns the statements of a word search, selective first, for EXPLAIN.
func Ways(org id.ID, f *Filter, s Sort, companies []id.ID, limit int) (sql []string, args [][]any, err error) {
	all := make([]term, len(f.Words))
	for i, w := range f.Words {
		all[i] = term{word: w, companies: companies, many: i > 0}
	}
	for _, way := range []func() (*query, string, error){
		func() (*query, string, error) {
			return gatherQuery(org, f, s, nil, limit, func(q *query) string { return q.onlyTerm(all, 0) })
		},
		func() (*query, string, error) {
			return gatherQuery(org, f, s, nil, limit, func(q *query) string { return q.selectEveryTerm(all) })
		},
		func() (*query, string, error) {
			return verifyQuery(org, f, all, s, nil, limit, companies)
		},
		func() (*query, string, error) { return walkQuery(org, f, all, s, nil, limit, usualEffort().stretch) },
	} {
		q, text, err := way()
		if err != nil {
			return nil, nil, err
		}
		sql, args = append(sql, text), append(args, q.args)
	}
	return sql, args, nil
}

// NamedStatement is a statement of the golden file.
type NamedStatement struct{ Name, SQL string }

// Statements returns the statements that are built from the table of columns.
func Statements() []NamedStatement {
	return []NamedStatement{
		{"read one contact", getSQL},
		{"read one contact to score it", scoredOfSQL},
		{"insert one contact", insertSQL},
		{"insert many contacts", insertAllSQL},
		{"update one contact", updateSQL},
		{"update many contacts", updateAllSQL},
	}
}

// ByStages returns the statement of a list of stages in an order of scores.
func ByStages(org id.ID, f *Filter, s Sort, limit int, stages ...string) (sql string, args []any, err error) {
	q, sql, err := newPage(org, f, s, nil, limit).byStages(stages)
	if err != nil {
		return "", nil, err
	}
	return sql, q.args, nil
}
