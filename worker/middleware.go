package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// overrun is how long after its timeout a run that does not end is logged.
const overrun = 5 * time.Second

var errTimeLimit = errors.New("time limit")

// callHandler calls the kind's work function with the run's timeout and as the platform, and recovers panics. From here
// on c has the kind's name, although its row may have the alias.
func (w *Worker) callHandler(ctx context.Context, h queue.Handler, c *queue.Claimed,
	do func(context.Context) error,
) (err error) {
	c.Kind = h.Kind
	ctx = events.WithOrigin(ctx, events.Origin{ActorType: "system"})
	ctx, cancel := context.WithTimeout(ctx, h.Options.Timeout)
	defer cancel()
	late := time.AfterFunc(h.Options.Timeout+overrun, func() {
		w.metrics.overruns.WithLabelValues(c.Kind).Inc()
		w.log.ErrorContext(ctx, "a run does not end at its time limit, and keeps its slot", "limit", h.Options.Timeout)
	})
	defer late.Stop()
	defer func() {
		if p := recover(); p != nil {
			w.log.ErrorContext(ctx, "job panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	err = do(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !queue.IsDrop(err) {
		if _, snoozed := queue.SnoozeOf(err); !snoozed {
			err = fmt.Errorf("%w of %s: %w", errTimeLimit, h.Options.Timeout, err)
		}
	}

	return err
}

// reportRun writes a run's log line and metrics.
func (w *Worker) reportRun(ctx context.Context, c *queue.Claimed, outcome string, took time.Duration, err error) {
	w.metrics.countRun(ctx, c, outcome, took)
	level := levelOf(c.Org, outcome)
	if !w.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("lane", string(c.Lane)), slog.Int("attempt", c.Attempt), slog.String("outcome", outcome),
		slog.Float64("wait_ms", inMillis(c.Waited)), slog.Float64("run_ms", inMillis(took)),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", cleanText(err.Error())))
	}
	w.log.LogAttrs(ctx, level, "job ran", attrs...)
}

// levelOf returns the level at which a run is logged. What the system org's jobs (sweeps, retention, samplers, received
// events) do every few seconds is of interest to a debugger alone, unless it fails.
func levelOf(org id.ID, outcome string) slog.Level {
	switch outcome {
	case string(store.Died):
		return slog.LevelError // nothing tries again by itself
	case string(store.Failed), fenced, letGo:
		return slog.LevelWarn
	case string(store.Done), string(store.Snoozed):
		if org.IsZero() {
			return slog.LevelDebug
		}
	}
	return slog.LevelInfo
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
