package activities

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
)

// NoteStatement returns the SQL of a list of notes, for EXPLAIN.
func NoteStatement(org id.ID, f *NoteFilter, order string, after *record.Position, limit int) (string, []any) {
	return notes.Page(f.buildQuery(org), noteOrders[order], after, limit)
}

// TaskStatement returns the SQL of a list of tasks, for EXPLAIN.
func TaskStatement(org id.ID, f *TaskFilter, order string, after *record.Position, limit int) (string, []any) {
	return tasks.Page(f.buildQuery(org), taskOrders[order], after, limit)
}
