package segmentsync

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	Pace segments.Pace
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one run.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	return segments.Sync(ctx, tx, j.Pace)
}

// Watch returns a function that adds a job for each org with marks, a new filter, or many tallies. It looks for tallies
// rarely, since nothing waits for them.
func Watch(app, system *postgres.DB) func(context.Context) error {
	tallied := queue.Rarely(func(ctx context.Context) ([]id.ID, error) { return segments.Tallied(ctx, system, Key) })
	return Kind.Watch(app, Key, func(ctx context.Context) ([]id.ID, error) {
		found, err := segments.Waiting(ctx, system, Key)
		if err != nil {
			return nil, err
		}
		more, err := tallied(ctx)
		return append(found, more...), err
	})
}
