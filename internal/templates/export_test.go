package templates

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
)

// Statement returns the statement of List.
func Statement(org id.ID, archived bool, order string, after *record.Position, limit int) (string, []any) {
	return table.Page(record.Where(org, archived), orders[order], after, limit)
}
