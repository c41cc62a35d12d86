package overviewcount

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has no dependencies.
type Job struct{}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work counts the days that have changed.
func (Job) Work(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	return overview.Count(ctx, tx)
}

// Watch returns a function that adds a job for each org with something to count.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, queue.Sparingly(func(ctx context.Context) ([]id.ID, error) {
		return overview.Due(ctx, system, Key)
	}))
}
