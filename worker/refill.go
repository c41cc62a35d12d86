package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// refillApart is the least time between two refills: ends that come close together share one.
const refillApart = 3 * time.Millisecond

// ends are the orgs whose runs have ended since the last refill, as far as they are short of slots.
type ends struct {
	some chan struct{} // holds one while there are any
	mu   sync.Mutex
	orgs map[queue.Lane]map[id.ID]struct{}
	last time.Time // when the last refill ended
}

func newEnds() *ends {
	return &ends{some: make(chan struct{}, 1), orgs: map[queue.Lane]map[id.ID]struct{}{}}
}

// add asks for a refill.
func (e *ends) add(lane queue.Lane, orgs ...id.ID) {
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

// take answers them, and forgets them.
func (e *ends) take() map[queue.Lane]map[id.ID]struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.orgs
	e.orgs = map[queue.Lane]map[id.ID]struct{}{}
	return all
}

// ended says that a run is over, and its slot free.
func (w *Worker) ended(c *queue.Claimed) {
	if w.ledger.Short(c.Lane, c.Org) {
		w.ends.add(c.Lane, c.Org)
	}
}

// refill feeds the orgs whose runs have ended. What it cannot do now, the next round does.
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
		pending, err := w.opt.Redis.LLen(ctx, "asynq:{"+string(lane)+"}:pending").Result()
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return err
		case err != nil:
			return w.link.failed(fmt.Errorf("redis: %w", err))
		}
		refs, later, err := w.ledger.Refill(ctx, lane, w.depthOf(lane)-int(pending), slices.Collect(maps.Keys(orgs)))
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
