package record

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The outcomes of a row of a batch.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Failed    = "error"
)

// Outcome is what one row of a batch came to.
type Outcome struct {
	Result string
	ID     id.ID // zero where Failed
	Fault  *fault.Fault
}

// Wrong is the outcome of a row that is wrong; err is a fault.
func Wrong(err error) Outcome {
	f := fault.Of(err)
	if f != nil && f.Code == fault.ValidationFailed {
		f.Detail = "The row has invalid fields."
	}
	return Outcome{Result: Failed, Fault: f}
}

// tries is how often a batch is done again because another transaction was quicker.
const tries = 5

// Again runs work, which reads everything at once and writes everything at once, until what another transaction does in
// between is no longer in its way: raced tells such an error. The last one is a conflict fault.
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
	return fault.New(fault.Conflict, "Other requests keep changing the same records. Send the batch again.").Because(err)
}

// Entry is one record as a batch has made it so far.
type Entry[T any] struct {
	Was Row[T] // as it is stored; zero where new
	Now Row[T]
	New bool
}

// Take makes ch the entry's state. However many rows of a batch change a record, it is one edit.
func (e *Entry[T]) Take(t *Table[T], ch Change[T]) {
	if ch.Edit = e.Was.Edit + 1; e.New {
		was, _ := t.Stamps(&e.Now.Value)
		is, _ := t.Stamps(&ch.Value)
		*is = *was
	}
	e.Now = ch.Row
}

// Change is what the batch made of the record in all; one that is not Changed is to be left alone.
func (e *Entry[T]) Change() Change[T] {
	ch := Change[T]{Row: e.Now, Before: e.Was.Value}
	if !e.New {
		ch.Previous = Changes(&e.Was.Value, &e.Now.Value)
	}
	return ch
}
