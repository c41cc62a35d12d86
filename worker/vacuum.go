package worker

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// vacuumJobs keeps the job table free of dead rows until ctx ends.
func (w *Worker) vacuumJobs(ctx context.Context) {
	w.vacuumer.Run(ctx, func(err error) {
		if errors.Is(err, store.ErrNotOwner) {
			w.log.InfoContext(ctx, "the job table is left to autovacuum", "reason", err)
			return
		}
		w.log.WarnContext(ctx, "failed to vacuum the job table", "error", err)
	})
}
