package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/backlog"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

const (
	// depth is how many tasks per slot of this process may be pending in asynq before feeding stops.
	depth = 4
	// feedAgain is the delay after a round that fed jobs, because slots become free faster than the usual interval.
	feedAgain = 10 * time.Millisecond
	// overfull is how many times depth makes a lane full. T1 then assigns no slots in the lane for fullFor.
	overfull = 4
	fullFor  = 2 * time.Second
	// crowd is the number of waiting jobs from which the orgs with the most are logged.
	crowd = 1000
)

// runFeeder is T2 until ctx ends. Rounds assign slots to due jobs, fairly across orgs. After a round that fed jobs the
// delay starts at feedAgain and doubles up to the usual interval, so that a slot of a concurrency key whose runs are
// short is empty for about as long as they take, at most. While Redis is down, feed changes no row.
func (w *Worker) runFeeder(ctx context.Context) {
	var again time.Duration // until the next round, while it is less than the usual interval
	for wait := time.Duration(0); w.idle.pauseIdle(ctx, wait, w.opt.Timing.Feed); {
		n, next, err := w.feedOnce(ctx)
		if again *= 2; n > 0 {
			again = feedAgain
		}
		if again >= w.opt.Timing.Feed {
			again = 0
		}
		switch wait = next; {
		case err != nil:
			wait = max(w.opt.Timing.Feed, w.opt.Timing.Look)
			if ctx.Err() == nil {
				w.log.Log(ctx, w.health.logLevel(), "feeder round failed", "error", err)
			}
		case again > 0:
			wait = min(next, again)
		}
	}
}

// feedOnce runs a round for every lane with waiting jobs. It returns how many jobs it fed, and the delay until the
// next round.
func (w *Worker) feedOnce(ctx context.Context) (fed int, pause time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	began := time.Now()
	lanes, next, err := w.feeder.Waiting(ctx)
	if err != nil || len(lanes) == 0 || w.health.down.Load() {
		// A look that finds nothing is slow while an old snapshot keeps the rows of jobs that waited.
		slow := min(5*time.Since(began), time.Second)
		return 0, max(w.idle.feedPause(w.opt.Timing.Feed, next), slow), err
	}
	fed, err = w.feedLanes(ctx, lanes)
	return fed, w.opt.Timing.Feed, err
}

func (w *Worker) feedLanes(ctx context.Context, lanes []queue.Lane) (fed int, err error) {
	pipe := w.opt.Redis.Pipeline()
	pending := make([]*redis.IntCmd, len(lanes))
	for i, lane := range lanes {
		pending[i] = pipe.LLen(ctx, asynqx.Key(lane, asynqx.Pending))
	}

	if _, err := pipe.Exec(ctx); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return 0, err
		}
		return 0, w.health.markDown(fmt.Errorf("redis: %w", err))
	}

	for i, lane := range lanes {
		w.declareFull(ctx, lane, pending[i].Val())
		room := w.depthOf(lane) - int(pending[i].Val())
		if room <= 0 {
			continue
		}
		refs, err := w.feeder.Round(ctx, lane, room)
		if err != nil {
			return fed, fmt.Errorf("feed %s: %w", lane, err)
		}
		w.metrics.looks.WithLabelValues("feed").Add(float64(len(refs)))
		if err := w.pushJobs(ctx, "feed", refs); err != nil {
			return fed, err
		}
		fed += len(refs)
	}

	return fed, nil
}

// countBacklog updates the backlog gauges until ctx ends.
func (w *Worker) countBacklog(ctx context.Context) {
	c := backlog.Counter{Store: w.store, Gauges: w.metrics.backlog, Log: w.log, After: w.nameHolders}
	_ = c.Run(ctx) // it ends with ctx alone
}

// nameHolders logs the orgs with the most jobs that wait for a slot, because orgs are not a metric label.
func (w *Worker) nameHolders(ctx context.Context, lanes []store.Backlog) {
	waiting := 0
	for _, b := range lanes {
		waiting += b.Counts[store.StageWaiting]
	}

	if waiting < crowd {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	top, err := w.store.Top(ctx)
	if err != nil || len(top) == 0 {
		return
	}

	var who []string
	for _, h := range top {
		who = append(who, fmt.Sprintf("%s: %d", h.Org, h.Jobs))
	}

	w.log.InfoContext(ctx, "jobs wait for slots", "jobs", waiting, "largest", who)
}

// declareFull marks a lane as full if it has enough tasks in Redis. T1 then leaves the lane's new jobs to the feeder.
func (w *Worker) declareFull(ctx context.Context, lane queue.Lane, pending int64) {
	if pending < int64(overfull*w.depthOf(lane)) || !w.health.fullAgain(lane, fullFor/2) {
		return
	}
	if err := w.feeder.Full(ctx, lane, fullFor); err != nil && ctx.Err() == nil {
		w.log.WarnContext(ctx, "failed to mark lane as full", "lane", string(lane), "error", err)
	}
}

// mayListRetry reports whether asynq may list another retry of the lane. If not, the job still waits in Postgres.
func (w *Worker) mayListRetry(lane queue.Lane) bool { return w.health.retriesOf(lane) < 10_000 }
