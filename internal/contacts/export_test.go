package contacts

import (
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
)

// Statement is the SQL of a list, for EXPLAIN.
func Statement(org id.ID, f *Filter, s Sort, after *Position, limit int) (string, []any, error) {
	q := build(org, f, s, true)
	sql, err := q.page(s, after, limit)
	return sql, q.args, err
}

// Planning is what a list is planned under.
const Planning = planning

// Condition is what f asks of the rows c and s, for live contacts. args begin with the org.
func Condition(f *filter.Filter, args *[]any) string {
	q := &query{args: *args, shelf: "false", live: "IS NULL"}
	sql := f.SQL(q.column, q.arg)
	*args = q.args
	return sql
}

// Both are the rows c and s of live contacts.
const Both = both + " WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL AND s.archived = false"
