package record

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Outcomes of a row of a batch.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Failed    = "error"
)

// Outcome is the result of one row of a batch.
type Outcome struct {
	Result string
	ID     id.ID // zero for Failed
	Fault  *fault.Fault
}

// Wrong returns the outcome of an invalid row. err is a fault.
func Wrong(err error) Outcome {
	f := fault.Of(err)
	if f != nil && f.Code == fault.ValidationFailed {
		f.Detail = "The row has invalid fields."
	}
	return Outcome{Result: Failed, Fault: f}
}

// tries is the maximum number of attempts for a batch that conflicts with concurrent transactions.
const tries = 5

// Again retries work, which reads everything at once and writes everything at once, while it conflicts with concurrent
// transactions: raced reports whether an error is such a conflict. After the last attempt the error is a conflict
// fault.
func Again(ctx context.Context, tx *postgres.Tx, raced func(error) bool, work func() error) (err error) {
	for range tries {
		err = tx.Savepoint(ctx, func() error {
			if err := work(); err != nil {
				return err
			}
			return tx.Flush(ctx)
		})
		if err == nil || !raced(err) {
			return err
		}
	}
	return fault.New(fault.Conflict, "Other requests keep changing the same records. Send the batch again.").
		Because(err)
}

// Entry is one record in its current state within a batch.
type Entry[T any] struct {
	Was Row[T] // the stored row; zero if new
	Now Row[T]
	New bool
}

// Take makes ch the entry's state. However many rows of a batch change a record, its edit is incremented once.
func (e *Entry[T]) Take(t *Table[T], ch Change[T]) {
	if ch.Edit = e.Was.Edit + 1; e.New {
		was, _ := t.Stamps(&e.Now.Value)
		is, _ := t.Stamps(&ch.Value)
		*is = *was
	}
	e.Now = ch.Row
}

// Change returns the batch's total change to the record. The caller must not write a change that is not Changed.
func (e *Entry[T]) Change() Change[T] {
	ch := Change[T]{Row: e.Now, Before: e.Was.Value}
	if !e.New {
		ch.Previous = Changes(&e.Was.Value, &e.Now.Value)
	}
	return ch
}
