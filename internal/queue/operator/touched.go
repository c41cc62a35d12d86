package operator

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// touched is a row that an action changed.
type touched struct {
	queue.Ref
	due  bool // not paused
	args json.RawMessage
}

// columns returns the scan targets for the columns that an action returns.
func (t *touched) columns() []any {
	return []any{&t.Org, &t.ID, &t.Kind, &t.Lane, &t.MaxAttempts, &t.Dispatch, &t.due, &t.args}
}
