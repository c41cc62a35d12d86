package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// refillApart is the minimum interval between two refills, so that runs that end together share one.
const refillApart = 3 * time.Millisecond

// refillQueue is the orgs short of slots in which a run has ended since the last refill.
type refillQueue struct {
	some chan struct{} // signals that orgs is not empty
	mu   sync.Mutex
	orgs map[queue.Lane]map[id.ID]struct{}
	last time.Time // when the last refill ended
}

func newRefillQueue() *refillQueue {
	return &refillQueue{some: make(chan struct{}, 1), orgs: map[queue.Lane]map[id.ID]struct{}{}}
}

// add requests a refill for orgs.
func (e *refillQueue) add(lane queue.Lane, orgs ...id.ID) {
	if len(orgs) == 0 {
		return
	}
	e.mu.Lock()
	if e.orgs[lane] == nil {
		e.orgs[lane] = map[id.ID]struct{}{}
	}
	for _, org := range orgs {
		e.orgs[lane][org] = struct{}{}
	}
	e.mu.Unlock()
	select {
	case e.some <- struct{}{}:
	default:
	}
}

// take returns the queued orgs and empties the queue.
func (e *refillQueue) take() map[queue.Lane]map[id.ID]struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.orgs
	e.orgs = map[queue.Lane]map[id.ID]struct{}{}
	return all
}

// ended requests a refill after a run has ended, if its org is short of slots, and a vacuum when enough have ended.
func (w *Worker) ended(c *queue.Claimed) {
	w.vacuumer.RunEnded()
	if w.feeder.Short(c.Lane, c.Org) {
		w.ends.add(c.Lane, c.Org)
	}
}

// refill feeds the orgs in which runs have ended. The next round serves what refill could not.
func (w *Worker) refill(ctx context.Context) error {
	select {
	case <-time.After(refillApart - time.Since(w.ends.last)):
	case <-ctx.Done():
		return nil
	}
	defer func() { w.ends.last = time.Now() }()
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	for lane, orgs := range w.ends.take() {
		if w.link.isDown() {
			return nil
		}
		pending, err := w.opt.Redis.LLen(ctx, asynqx.Key(lane, asynqx.Pending)).Result()
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return err
		case err != nil:
			return w.link.failed(fmt.Errorf("redis: %w", err))
		}
		refs, later, err := w.feeder.Refill(ctx, lane, w.depthOf(lane)-int(pending), slices.Collect(maps.Keys(orgs)))
		if err != nil {
			return fmt.Errorf("refill %s: %w", lane, err)
		}
		w.ends.add(lane, later...)
		w.metrics.looks.WithLabelValues("refill").Add(float64(len(refs)))
		if err := w.push(ctx, "refill", refs); err != nil {
			return err
		}
	}
	return nil
}
