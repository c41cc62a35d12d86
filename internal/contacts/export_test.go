package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Statement returns the SQL of a list in which the planner chooses the way.
func Statement(org id.ID, f *Filter, s Sort, after *Position, limit int) (string, []any, error) {
	q, sql, err := newPage(org, f.onward(s, after), s, after, limit).whole()
	if err != nil {
		return "", nil, err
	}
	return sql, q.args, err
}

// PageWays returns the statements of a page: with sets, with a stretch of n contacts, and gathered by each condition
// that an index serves.
func PageWays(org id.ID, f *Filter, s Sort, after *Position, limit, n int) (sql []string, args [][]any, err error) {
	p := newPage(org, f.onward(s, after), s, after, limit)
	ways := []func() (*query, string, error){p.members}
	if len(p.rest) > 0 {
		ways = append(ways, func() (*query, string, error) { return p.stretch(n) })
	}
	for _, part := range p.rest {
		if hasIndex(part) {
			ways = append(ways, func() (*query, string, error) { return p.gather(part, 1_000_000) })
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

// Planning holds the planner settings of lists.
const Planning = planning

// Condition returns the condition of f on the rows c and s of live contacts. args starts with the org.
func Condition(f *filter.Filter, args *[]any) string {
	q := &query{args: *args, shelf: "false", live: "IS NULL"}
	sql := f.SQL(q.column, q.arg)
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
	return search(ctx, tx, f, s, after, limit, effort{
		few: few, companies: companies, stretch: stretch, first: 1, marks: usual().marks, most: usual().most,
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
			return gather(org, f, s, nil, limit, func(q *query) string { return q.only(all, 0) })
		},
		func() (*query, string, error) {
			return gather(org, f, s, nil, limit, func(q *query) string { return q.together(all) })
		},
		func() (*query, string, error) {
			return verify(org, f, all, s, nil, limit, companies)
		},
		func() (*query, string, error) { return walk(org, f, all, s, nil, limit, usual().stretch) },
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
