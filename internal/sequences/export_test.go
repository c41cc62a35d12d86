package sequences

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Planning is the planner settings of List.
const Planning = record.Planning

// Statement returns the statement of List, after a position with the key if middle is set.
func Statement(org id.ID, f Filter, order, key string, middle bool, limit int) (string, []any) {
	var after *record.Position
	if middle {
		after = &record.Position{Key: key, ID: id.New()}
	}
	return table.Page(f.listQuery(org), orders[order], after, limit)
}
