package queue

import (
	"context"
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Hook updates the rows that depend on a future run of a job when the job changes without a run: an operator archives,
// drops or redrives it, or it becomes dead. Its functions run in the transaction that changes the job, under the row
// policies of the job's org.
type Hook struct {
	Kind  string
	Alias string // of the kind; see Options
	// Stopped is called with the arguments of jobs that will not run again: they became dead, or were deleted before
	// they were done. It is also called when a dead job is dropped, so it must be idempotent.
	Stopped func(ctx context.Context, tx *postgres.Tx, args []json.RawMessage) error
	// Revived is called with the arguments of jobs that an operator made due now, dead or not.
	Revived func(ctx context.Context, tx *postgres.Tx, args []json.RawMessage) error
}

// Hook returns the kind's hook. Either function may be nil.
func (k Kind[A]) Hook(stopped, revived func(ctx context.Context, tx *postgres.Tx, args []A) error) Hook {
	return Hook{Kind: k.name, Alias: k.opt.Alias, Stopped: decodeBefore(stopped), Revived: decodeBefore(revived)}
}

// decodeBefore calls fn with the arguments that can be decoded. A job with other arguments has never been able to run,
// so no row depends on it.
func decodeBefore[A any](fn func(context.Context, *postgres.Tx, []A) error) func(context.Context, *postgres.Tx,
	[]json.RawMessage) error {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx *postgres.Tx, raw []json.RawMessage) error {
		args := make([]A, 0, len(raw))
		for _, r := range raw {
			var a A
			if json.Unmarshal(r, &a) == nil {
				args = append(args, a)
			}
		}
		if len(args) == 0 {
			return nil
		}
		return fn(ctx, tx, args)
	}
}
