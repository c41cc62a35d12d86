package contacts

import "github.com/funnelwork/funnelwork/internal/id"

// Statement is the SQL of a list, for EXPLAIN.
func Statement(org id.ID, f *Filter, s Sort, after *Position, limit int) (string, []any, error) {
	q := build(org, f, s)
	sql, err := q.page(s, after, limit)
	return sql, q.args, err
}

// Planning is what a list is planned under.
const Planning = planning
