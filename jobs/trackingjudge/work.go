package trackingjudge

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/tracking"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// Handler returns the kind's handler.
func Handler() queue.Handler { return Kind.HandleTx(judgeAndScore) }

// judgeAndScore also enqueues the scoring of the contacts who have followed a link.
func judgeAndScore(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	clicked, err := tracking.Judge(ctx, tx)
	if err != nil {
		return err
	}
	for _, args := range (leadscore.Args{Contacts: clicked}).Split() {
		if err := leadscore.Kind.Add(ctx, tx, args); err != nil {
			return err
		}
	}
	return nil
}

// Watch returns a function that adds a job for each org with hits that are due.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, queue.Sparingly(func(ctx context.Context) ([]id.ID, error) {
		return tracking.Waiting(ctx, system, Key)
	}))
}
