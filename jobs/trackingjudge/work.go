package trackingjudge

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/tracking"
)

// Handler returns the kind's handler.
func Handler() queue.Handler { return Kind.HandleTx(work) }

func work(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	return tracking.Judge(ctx, tx)
}

// Watch returns a function that adds a job for each org with hits that are due.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, queue.Sparingly(func(ctx context.Context) ([]id.ID, error) {
		return tracking.Waiting(ctx, system, Key)
	}))
}
