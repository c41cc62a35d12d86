package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// refillApart is the minimum interval between two refills, so that runs that end together share one.
const refillApart = 3 * time.Millisecond

// refillQueued is how many ended runs may wait for a refill; the rounds serve the orgs of further ones.
const refillQueued = 4096

// ended is an org short of slots in which a run has ended.
type ended struct {
	lane queue.Lane
	org  id.ID
}

func (w *Worker) newRefills() *batch.Batcher[ended] {
	return batch.New(batch.Options[ended]{
		Interval: refillApart, Most: refillQueued, Queued: refillQueued, Timeout: lookWait,
		Send: func(ctx context.Context, all []ended) error {
			w.feedFailed(context.WithoutCancel(ctx), w.refill(ctx, all))
			return nil
		},
	})
}

// ended requests a refill after a run has ended, if its org is short of slots, and a vacuum when enough have ended.
func (w *Worker) ended(c *queue.Claimed) {
	w.vacuumer.RunEnded()
	if w.feeder.Short(c.Lane, c.Org) {
		w.ends.Add(ended{c.Lane, c.Org})
	}
}

// refill feeds the orgs in which runs have ended. The next round serves what refill could not.
func (w *Worker) refill(ctx context.Context, all []ended) error {
	w.feeding.Lock()
	defer w.feeding.Unlock()
	lanes := map[queue.Lane]map[id.ID]bool{}
	for _, e := range all {
		if lanes[e.lane] == nil {
			lanes[e.lane] = map[id.ID]bool{}
		}
		lanes[e.lane][e.org] = true
	}
	for lane, orgs := range lanes {
		if w.link.down.Load() {
			return nil
		}
		pending, err := w.opt.Redis.LLen(ctx, asynqx.Key(lane, asynqx.Pending)).Result()
		if err != nil {
			return w.link.failed(fmt.Errorf("redis: %w", err))
		}
		refs, later, err := w.feeder.Refill(ctx, lane, w.depthOf(lane)-int(pending), slices.Collect(maps.Keys(orgs)))
		if err != nil {
			return fmt.Errorf("refill %s: %w", lane, err)
		}
		for _, org := range later {
			w.ends.Add(ended{lane, org})
		}
		w.metrics.looks.WithLabelValues("refill").Add(float64(len(refs)))
		if err := w.push(ctx, "refill", refs); err != nil {
			return err
		}
	}
	return nil
}
