package queue

import "encoding/json"

// touched is a row that an action changed.
type touched struct {
	Ref
	due  bool // not paused
	args json.RawMessage
}

// columns returns the scan targets for the columns that an action returns.
func (t *touched) columns() []any {
	return []any{&t.Org, &t.ID, &t.Kind, &t.Lane, &t.MaxAttempts, &t.Dispatch, &t.due, &t.args}
}
