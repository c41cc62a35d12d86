package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Limits of a BatchCompleter.
const (
	batchSize    = 256             // runs per statement
	batchTimeout = 3 * time.Second // per statement
)

// batchCall is one claim or one completion.
type batchCall struct {
	claim   *queue.Claimed
	verdict Completion
	items   []queue.EffectItem // snapshot of the run's items
	ok      bool
}

// newBatch returns a batcher that executes each batch with do.
func newBatch(do func(context.Context, []*batchCall) error) *batch.Batcher[*batchCall] {
	return batch.New(batch.Options[*batchCall]{
		Interval: batch.Interval, FlushSize: batch.FlushSize, Most: batchSize, Queued: batchSize,
		Timeout: batchTimeout,
		Send: func(ctx context.Context, load []*batchCall) error {
			// Sort by key, so that concurrent statements lock rows in the same order and cannot deadlock.
			slices.SortFunc(load, func(a, b *batchCall) int {
				return cmp.Or(id.Compare(a.claim.Org, b.claim.Org),
					id.Compare(a.claim.ID, b.claim.ID))
			})
			return do(ctx, load)
		},
	})
}

// fenced is the keys and fences of completions.
type fenced struct {
	orgs, ids, owners []id.ID
	attempts          []int
}

func (f *fenced) addJob(c *queue.Claimed) {
	f.orgs, f.ids, f.owners, f.attempts = append(f.orgs, c.Org), append(f.ids, c.ID), append(f.owners, *c.Fence),
		append(f.attempts, c.Attempt-1)
}
