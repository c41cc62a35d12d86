package sequencecompare

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
)

// Handler returns the kind's handler.
func Handler() queue.Handler {
	return Kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
		return comparisons.Check(ctx, tx)
	})
}

// Watch returns a function that adds a job for each org with comparisons that are due.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, queue.Sparingly(func(ctx context.Context) ([]id.ID, error) {
		return comparisons.Waiting(ctx, system, Key)
	}))
}
