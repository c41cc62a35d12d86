package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

const (
	lookBatch = 500              // rows of one scan; a full one is followed by the next at once
	lookWait  = 10 * time.Second // for one scan with its pushes
	askRedis  = 2 * time.Second  // for one sign of life, of Redis or of Postgres
)

// relay is T3, T4, T15 and, each hour, T16 until ctx ends: again and again it asks Redis for a sign of life and Postgres for rows
// that are due for a look. While Redis is away it touches no row.
func (w *Worker) relay(ctx context.Context) {
	tick := time.NewTicker(w.opt.Timing.Look)
	defer tick.Stop()
	sweep := time.Now().Add(queue.Jitter(w.opt.Timing.Sweep, 0.2))
	for {
		err := w.look(ctx)
		if err == nil && time.Now().After(sweep) {
			sweep = time.Now().Add(queue.Jitter(w.opt.Timing.Sweep, 0.2))
			err = w.sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.log.Log(ctx, w.link.level(), "relay scan failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) look(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, askRedis)
	stops, unread := w.ledger.Stops(asking)
	cancel()
	changed, err := w.epoch(ctx, stops.Lanes, unread == nil)
	if err != nil {
		return w.link.failed(err)
	}
	w.metrics.redis.Set(1)
	if unread != nil {
		return fmt.Errorf("pauses: %w", unread)
	}
	w.metrics.stopped(stops)
	if w.link.back() {
		w.log.DebugContext(ctx, "redis answers the relay again")
		changed = queue.Lanes()
	}
	for _, lane := range changed {
		if err := w.ledger.Epoch(ctx, lane); err != nil {
			w.link.forget(lane)
			return fmt.Errorf("epoch of %s: %w", lane, err)
		}
	}
	var lag time.Duration
	for _, scan := range []struct {
		what string
		find func(context.Context, int) (queue.Looked, error)
	}{{"reap", w.ledger.Reap}, {"wake", w.ledger.Wake}} {
		for full := true; full && ctx.Err() == nil; {
			var late time.Duration
			if full, late, err = w.scan(ctx, scan.what, scan.find); err != nil {
				return err
			}
			lag = max(lag, late)
		}
	}
	w.metrics.lag.Set(lag.Seconds())
	return nil
}

// scan is one short transaction and, after it, the pushes.
func (w *Worker) scan(ctx context.Context, what string, find func(context.Context, int) (queue.Looked, error)) (full bool, late time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	found, err := find(ctx, lookBatch)
	if err != nil {
		return false, 0, fmt.Errorf("%s: %w", what, err)
	}
	w.metrics.looks.WithLabelValues(what).Add(float64(len(found.Refs)))
	if what == "reap" && len(found.Refs) > 0 {
		w.log.WarnContext(ctx, "runs vanished: their jobs run again", "jobs", len(found.Refs))
	}
	return len(found.Refs) == lookBatch, found.Lag, w.push(ctx, what, found.Refs)
}

// push hands rows to asynq. Whatever goes wrong, their wake_at brings them back.
func (w *Worker) push(ctx context.Context, what string, refs []queue.Ref) error {
	p, err := w.courier.Push(ctx, refs...)
	w.metrics.behind.Add(float64(p.Behind))
	w.metrics.pushed.WithLabelValues(what).Add(float64(p.Added))
	if p.Died > 0 {
		w.log.ErrorContext(ctx, "jobs lost their worker too often and are dead", "jobs", p.Died)
	}
	switch {
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
		return err
	case errors.Is(err, queue.ErrAsynq):
		return w.link.failed(fmt.Errorf("%s: push: %w", what, err))
	}
	return fmt.Errorf("%s: push: %w", what, err)
}

// epoch is the sign of life, one pipeline: each lane's epoch key is read, or made where it is missing; the
// queues are listed, which a living asynq client does only once; what waits is counted; and asynq's own pauses
// follow those of the lanes, where these are known. It answers the lanes whose key is new to this process, for
// Redis may have lost anything of theirs.
func (w *Worker) epoch(ctx context.Context, paused map[queue.Lane]bool, known bool) (changed []queue.Lane, err error) {
	ctx, cancel := context.WithTimeout(ctx, askRedis)
	defer cancel()
	lanes := queue.Lanes()
	names := make([]any, len(lanes))
	keys := make([]*redis.StringCmd, len(lanes))
	made := make([]*redis.BoolCmd, len(lanes))
	pending, retry := make([]*redis.IntCmd, len(lanes)), make([]*redis.IntCmd, len(lanes))
	pipe := w.opt.Redis.Pipeline()
	for i, lane := range lanes {
		names[i] = string(lane)
		at := "asynq:{" + string(lane) + "}:"
		made[i] = pipe.SetNX(ctx, at+"epoch", id.New().String(), 0)
		keys[i] = pipe.Get(ctx, at+"epoch")
		pending[i] = pipe.LLen(ctx, at+"pending")
		retry[i] = pipe.ZCard(ctx, at+"retry")
		switch {
		case !known:
		case paused[lane]:
			pipe.SetNX(ctx, at+"paused", time.Now().Unix(), 0)
		default:
			pipe.Del(ctx, at+"paused")
		}
	}
	pipe.SAdd(ctx, "asynq:queues", names...)
	if _, err := pipe.Exec(ctx); err != nil {
		w.metrics.redis.Set(0)
		return nil, fmt.Errorf("redis: %w", err)
	}
	for i, lane := range lanes {
		w.metrics.pending.WithLabelValues(string(lane)).Set(float64(pending[i].Val()))
		w.declareFull(ctx, lane, pending[i].Val())
		w.link.setRetries(lane, retry[i].Val())
		if w.link.learn(lane, keys[i].Val(), made[i].Val()) {
			changed = append(changed, lane)
		}
	}
	return changed, nil
}
