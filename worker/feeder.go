package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

const (
	// A lane is fed while fewer tasks than this for each slot of this process wait in asynq.
	depth = 4
	// feedAgain is the wait after a round that found something: a window empties faster than the usual round.
	feedAgain = 10 * time.Millisecond
	// A lane with this many times as much is full: T1 gives no slots there itself, for as long at a time.
	overfull = 4
	fullFor  = 2 * time.Second
	// countEvery spaces the counts of the backlog, and crowd is from where on its holders are named.
	countEvery = 30 * time.Second
	crowd      = 1000
)

// feed is T2 until ctx ends: what waits for its time or for a slot gets one, fair over the orgs, in rounds; and between
// them what waits for the end of a run of its own line. While Redis is away it touches no row.
func (w *Worker) feed(ctx context.Context) {
	round := time.NewTimer(0)
	defer round.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-round.C:
			n, err := w.feedOnce(ctx)
			w.feedFailed(ctx, err)
			pause := w.opt.Timing.Feed
			switch {
			case err != nil:
				pause = max(pause, w.opt.Timing.Look)
			case n > 0:
				pause = min(pause, feedAgain)
			}
			round.Reset(pause)
		case <-w.ends.some:
			w.feedFailed(ctx, w.refill(ctx))
		}
	}
}

func (w *Worker) feedFailed(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		w.log.Log(ctx, w.link.level(), "feeder round failed", "error", err)
	}
}

// feedOnce is a round of all lanes in which something waits. It answers how much of what it gave will not be followed
// by refills, as those will.
func (w *Worker) feedOnce(ctx context.Context) (fed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	lanes, err := w.ledger.Waiting(ctx)
	if err != nil || len(lanes) == 0 || w.link.isDown() {
		return 0, err
	}
	pipe := w.opt.Redis.Pipeline()
	pending := make([]*redis.IntCmd, len(lanes))
	for i, lane := range lanes {
		pending[i] = pipe.LLen(ctx, "asynq:{"+string(lane)+"}:pending")
	}
	if _, err := pipe.Exec(ctx); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return 0, err
		}
		return 0, w.link.failed(fmt.Errorf("redis: %w", err))
	}
	for i, lane := range lanes {
		w.declareFull(ctx, lane, pending[i].Val())
		room := w.depthOf(lane) - int(pending[i].Val())
		if room <= 0 {
			continue
		}
		refs, err := w.ledger.Feed(ctx, lane, room)
		if err != nil {
			return fed, fmt.Errorf("feed %s: %w", lane, err)
		}
		w.metrics.looks.WithLabelValues("feed").Add(float64(len(refs)))
		if err := w.push(ctx, "feed", refs); err != nil {
			return fed, err
		}
		for _, r := range refs {
			if !w.ledger.Short(lane, r.Org) {
				fed++
			}
		}
	}
	return fed, nil
}

// count keeps the gauges of the backlog until ctx ends.
func (w *Worker) count(ctx context.Context) {
	for {
		counting, cancel := context.WithTimeout(ctx, lookWait)
		lanes, err := w.ledger.Backlogs(counting)
		cancel()
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "backlog not counted", "error", err)
		}
		if err == nil {
			w.metrics.backlog(lanes)
			w.nameHolders(ctx, lanes)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(countEvery):
		}
	}
}

// nameHolders logs who has the most jobs that wait for a slot; orgs are no label.
func (w *Worker) nameHolders(ctx context.Context, lanes []queue.Backlog) {
	waiting := 0
	for _, b := range lanes {
		waiting += b.Counts[queue.StageWaiting]
	}
	if waiting < crowd {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	top, err := w.ledger.Top(ctx)
	if err != nil || len(top) == 0 {
		return
	}
	var who []string
	for _, h := range top {
		who = append(who, fmt.Sprintf("%s: %d", h.Org, h.Jobs))
	}
	w.log.InfoContext(ctx, "jobs wait for slots", "jobs", waiting, "largest", who)
}

// declareFull tells T1 that a lane has enough in Redis, where it has: what commits meanwhile waits for the feeder.
func (w *Worker) declareFull(ctx context.Context, lane queue.Lane, pending int64) {
	if pending < int64(overfull*w.depthOf(lane)) || !w.link.fullAgain(lane, fullFor/2) {
		return
	}
	if err := w.ledger.Full(ctx, lane, fullFor); err != nil && ctx.Err() == nil {
		w.log.WarnContext(ctx, "lane not declared full", "lane", string(lane), "error", err)
	}
}

// listed tells whether asynq has room to list one more retry of the lane. Where it has not, the job waits in
// Postgres all the same.
func (w *Worker) listed(lane queue.Lane) bool { return w.link.retriesOf(lane) < 10_000 }
