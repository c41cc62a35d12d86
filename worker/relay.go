package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

const (
	lookBatch = 500              // rows per scan; the next scan follows a full one at once
	lookWait  = 10 * time.Second // timeout of one scan with its pushes
	askRedis  = 2 * time.Second  // timeout of one ping, of Redis or Postgres
)

// runRelay is T3, T4, T15 and, each hour, T16 until ctx ends. In a loop it pings Redis and scans Postgres for due rows.
// While Redis is down it changes no row.
func (w *Worker) runRelay(ctx context.Context) {
	sweep := time.Now().Add(queue.Jitter(w.opt.Timing.Sweep, 0.2))
	for more := true; more; more = pauseFor(ctx, w.opt.Timing.Look) {
		err := w.scanOnce(ctx)
		if err == nil && time.Now().After(sweep) {
			sweep = time.Now().Add(queue.Jitter(w.opt.Timing.Sweep, 0.2))
			err = w.sweepArchive(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.log.Log(ctx, w.health.logLevel(), "relay scan failed", "error", err)
		}
	}
}

func (w *Worker) scanOnce(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, askRedis)
	began := time.Now()
	from := w.floor.scanStart(w.opt.Timing.Lease)
	stops, unread := w.store.Stops(asking, from)
	cancel()
	if unread == nil {
		w.noticeClock(stops.Clock, began)
		w.floor.raise(from, &stops)
		from = w.floor.at // there is nothing before it
		w.publishFloor(ctx, &stops)
	}
	changed, err := w.pingRedis(ctx, stops.Lanes, unread == nil)
	if err != nil {
		return w.health.markDown(err)
	}

	w.metrics.redis.Set(1)
	if unread != nil {
		return fmt.Errorf("read pauses: %w", unread)
	}

	w.metrics.setPaused(stops)
	if w.health.down.Swap(false) {
		w.log.DebugContext(ctx, "relay reached redis again")
		changed = queue.Lanes()
	}
	for _, lane := range changed {
		if err := w.store.Resync(ctx, lane); err != nil {
			w.health.forgetEpoch(lane)
			return fmt.Errorf("resync %s: %w", lane, err)
		}
	}

	if stops.Ahead {
		woken, err := w.store.WakeAhead(ctx, lookBatch)
		if err != nil {
			return err
		}
		w.log.WarnContext(ctx, "the clock of postgres was set back: jobs of before are due", "jobs", woken)
	}
	var lag time.Duration
	if !stops.Due && !stops.Ahead && len(changed) == 0 {
		w.metrics.lag.Set(0)
		return nil
	}

	for _, scan := range []struct {
		what string
		find func(context.Context, int, time.Time) (store.DueScan, error)
	}{{"reap", w.store.Reap}, {"wake", w.store.Wake}} {
		for full := true; full && ctx.Err() == nil; {
			var late time.Duration
			if full, late, err = w.runScan(ctx, scan.what, scan.find, from); err != nil {
				return err
			}
			lag = max(lag, late)
		}
	}

	w.metrics.lag.Set(lag.Seconds())
	return nil
}

// runScan runs one short transaction and then pushes the jobs that it found.
func (w *Worker) runScan(ctx context.Context, what string,
	find func(context.Context, int, time.Time) (store.DueScan, error), from time.Time,
) (full bool, late time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	found, err := find(ctx, lookBatch, from)
	if err != nil {
		return false, 0, fmt.Errorf("%s: %w", what, err)
	}
	w.metrics.looks.WithLabelValues(what).Add(float64(len(found.Refs)))
	if what == "reap" && len(found.Refs) > 0 {
		w.log.WarnContext(ctx, "runs were lost: their jobs run again", "jobs", len(found.Refs))
	}
	return len(found.Refs) == lookBatch, found.Lag, w.pushJobs(ctx, what, found.Refs)
}

// pushJobs enqueues jobs in asynq. If it fails, wake_at makes their rows due again.
func (w *Worker) pushJobs(ctx context.Context, what string, refs []queue.Ref) error {
	p, err := w.dispatcher.Push(ctx, refs...)
	w.metrics.behind.Add(float64(p.Behind))
	w.metrics.pushed.WithLabelValues(what).Add(float64(p.Added))
	if p.Died > 0 {
		w.log.ErrorContext(ctx, "jobs lost their worker too often and are dead", "jobs", p.Died)
	}
	switch {
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
		return err
	case errors.Is(err, dispatch.ErrAsynq):
		return w.health.markDown(fmt.Errorf("%s: push: %w", what, err))
	}
	return fmt.Errorf("%s: push: %w", what, err)
}

// pingRedis pings Redis with one pipeline. It reads each lane's epoch key and creates missing ones, registers the
// queues (an asynq client does that only once), counts the pending tasks, and copies the lanes' pauses to asynq if
// known is true. It returns the lanes with an epoch key that is new to this process, because Redis may have lost their
// tasks.
func (w *Worker) pingRedis(ctx context.Context, paused map[queue.Lane]bool, known bool) (changed []queue.Lane,
	err error,
) {
	ctx, cancel := context.WithTimeout(ctx, askRedis)
	defer cancel()
	lanes := queue.Lanes()
	keys := make([]*redis.StringCmd, len(lanes))
	made := make([]*redis.BoolCmd, len(lanes))
	pending := make([]*redis.IntCmd, len(lanes))
	retry := make([]*redis.IntCmd, len(lanes))

	pipe := w.opt.Redis.Pipeline()
	for i, lane := range lanes {
		epoch := asynqx.Key(lane, asynqx.Epoch)
		made[i] = pipe.SetNX(ctx, epoch, id.New().String(), 0)
		keys[i] = pipe.Get(ctx, epoch)
		pending[i] = pipe.LLen(ctx, asynqx.Key(lane, asynqx.Pending))
		retry[i] = pipe.ZCard(ctx, asynqx.Key(lane, asynqx.Retry))
		if known {
			asynqx.SetPaused(ctx, pipe, lane, paused[lane])
		}
	}

	asynqx.RegisterQueues(ctx, pipe, lanes)
	if _, err := pipe.Exec(ctx); err != nil {
		w.metrics.redis.Set(0)
		return nil, fmt.Errorf("redis: %w", err)
	}

	for i, lane := range lanes {
		w.metrics.pending.WithLabelValues(string(lane)).Set(float64(pending[i].Val()))
		w.declareFull(ctx, lane, pending[i].Val())
		w.health.retries.Store(lane, retry[i].Val())
		if w.health.learnEpoch(lane, keys[i].Val(), made[i].Val()) {
			changed = append(changed, lane)
		}
	}

	return changed, nil
}
