package worker

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// poll calls look at every Timing.Watch until ctx ends. After an error the next call tries again. The relay logs that
// Postgres is unavailable.
func (w *Worker) poll(ctx context.Context, look func(context.Context) error) {
	tick := time.NewTimer(queue.Jitter(w.opt.Timing.Watch, 0.2))
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		bounded, cancel := context.WithTimeout(ctx, lookWait)
		err := look(bounded)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			w.log.WarnContext(ctx, "watch", "error", err)
		}
		failing = err != nil
		pause := w.opt.Timing.Watch
		if failing {
			pause = max(pause, w.opt.Timing.Look)
		}
		tick.Reset(queue.Jitter(pause, 0.2))
	}
}
