package sequencecount

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
)

const (
	atOnce = 50          // most sources of a run
	enough = time.Second // after which a run begins no other source: Watch finds the rest
)

// Handler returns the kind's handler.
func Handler() queue.Handler {
	return Kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
		began := time.Now()
		sources, err := counts.Uncounted(ctx, tx, atOnce)
		for i := 0; i < len(sources) && err == nil && (i == 0 || time.Since(began) < enough); i++ {
			err = counts.Begin(ctx, tx, sources[i])
		}
		return err
	})
}

// Watch returns a function that adds a job for each org with sources that are not counted.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, queue.Sparingly(func(ctx context.Context) ([]id.ID, error) {
		return counts.Waiting(ctx, system, Key)
	}))
}
