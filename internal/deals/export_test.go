package deals

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Statement returns the SQL of a list, for EXPLAIN.
func Statement(org id.ID, f *Filter, order string, after *record.Position, limit int) (string, []any) {
	return table.Page(f.buildQuery(org), orders[order], after, limit)
}
