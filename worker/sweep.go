package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// sweepArchive is T16. It deletes archived tasks that have no dead job in Postgres or an outdated task ID. T3 then
// pushes the newest dead jobs that asynq does not list.
func (w *Worker) sweepArchive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	inspect := asynq.NewInspectorFromRedisClient(w.opt.Redis)
	for _, lane := range queue.Lanes() {
		listed, err := w.opt.Redis.ZRange(ctx, asynqx.Key(lane, asynqx.Archived), 0, -1).Result()
		if err != nil {
			return w.health.markDown(fmt.Errorf("sweep: %w", err))
		}
		strays, unlisted, err := w.store.Sweep(ctx, lane, listed)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", lane, err)
		}
		for _, task := range strays {
			if err := inspect.DeleteTask(string(lane), task); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
				w.log.WarnContext(ctx, "failed to delete an archived task with no dead job", "task", task, "error", err)
				continue
			}
			w.metrics.countRepairs("deleted", 1)
		}
		w.metrics.countRepairs("relisted", unlisted)
	}

	return nil
}
