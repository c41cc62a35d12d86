package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

// At the usual interval of this test, two keys of 120 jobs with 10 slots each would need three minutes.
func TestAKeyOfShortRunsDoesNotWaitForTheUsualInterval(t *testing.T) {
	t.Parallel()
	h := open(t)
	line, other := id.New(), id.New()
	h.addLine(h.org, line, 120)
	h.addLine(newOrg(), other, 120)
	var now, most, runs atomic.Int64
	h.work(worker.Options{Concurrency: 40, Timing: worker.Timing{Feed: 15 * time.Second}},
		call.Handle(func(context.Context, *queue.Run[none]) error {
			for n, seen := now.Add(1), most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
			}
			defer now.Add(-1)
			runs.Add(1)
			<-time.After(10 * time.Millisecond)
			return nil
		}))
	took := h.until(giveUpAfter, "all have run", func() bool { return runs.Load() == 240 && len(h.jobs()) == 0 })
	t.Logf("2 keys of 120 jobs in %s, at most %d at once", took, most.Load())
	if most.Load() > 2*queue.Slots {
		t.Errorf("%d at once", most.Load())
	}
}
