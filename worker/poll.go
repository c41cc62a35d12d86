package worker

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// pollWatch calls look at every Timing.Watch until ctx ends, and less often while the process is idle. After an error
// the next call tries again. The relay logs that Postgres is unavailable.
func (w *Worker) pollWatch(ctx context.Context, look func(context.Context) error) {
	failing := false
	wait := w.opt.Timing.Watch
	for w.idle.pauseIdle(ctx, queue.Jitter(wait, 0.2), w.opt.Timing.Watch) {
		bounded, cancel := context.WithTimeout(ctx, lookWait)
		err := look(bounded)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			w.log.WarnContext(ctx, "watch", "error", err)
		}
		wait = w.idle.watchPause(w.opt.Timing.Watch)
		if failing = err != nil; failing {
			wait = max(wait, w.opt.Timing.Look)
		}
	}
}
