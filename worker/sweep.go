package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// sweep is T16: what asynq lists as archived and is not dead in Postgres, or bears an older name of its job, goes, and
// the newest dead that it does not list are brought there by T3.
func (w *Worker) sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	inspect := asynq.NewInspectorFromRedisClient(w.opt.Redis)
	for _, lane := range queue.Lanes() {
		listed, err := w.opt.Redis.ZRange(ctx, "asynq:{"+string(lane)+"}:archived", 0, -1).Result()
		if err != nil {
			return w.link.failed(fmt.Errorf("sweep: %w", err))
		}
		strays, unlisted, err := w.ledger.Sweep(ctx, lane, listed)
		if err != nil {
			return fmt.Errorf("sweep %s: %w", lane, err)
		}
		for _, task := range strays {
			if err := inspect.DeleteTask(string(lane), task); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
				w.log.WarnContext(ctx, "an archived task without a dead job is not deleted", "task", task, "error", err)
				continue
			}
			w.metrics.swept.WithLabelValues("deleted").Inc()
		}
		w.metrics.swept.WithLabelValues("relisted").Add(float64(unlisted))
	}
	return nil
}
