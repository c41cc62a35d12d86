package worker

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// poll calls look at every Timing.Watch until ctx ends, and less often while the process is idle. After an error the
// next call tries again. The relay logs that Postgres is unavailable.
func (w *Worker) poll(ctx context.Context, look func(context.Context) error) {
	tick := time.NewTimer(0)
	defer tick.Stop()
	var due time.Time
	after := func(pause time.Duration) {
		pause = queue.Jitter(pause, 0.2)
		due = time.Now().Add(pause)
		tick.Reset(pause)
	}
	after(w.opt.Timing.Watch)
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.idle.woken():
			if time.Until(due) > w.opt.Timing.Watch {
				after(w.opt.Timing.Watch)
			}
			continue
		case <-tick.C:
		}
		bounded, cancel := context.WithTimeout(ctx, lookWait)
		err := look(bounded)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			w.log.WarnContext(ctx, "watch", "error", err)
		}
		failing = err != nil
		pause := w.idle.watchPause(w.opt.Timing.Watch)
		if failing {
			pause = max(pause, w.opt.Timing.Look)
		}
		after(pause)
	}
}
