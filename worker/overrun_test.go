package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

func TestARunThatOutlastsItsTimeLimitIsReportedAndKeepsItsSlot(t *testing.T) {
	t.Parallel()
	h := open(t)
	deaf := queue.Define[none]("test.deaf", queue.Options{Timeout: 50 * time.Millisecond})
	const slots, jobs = 4, 12
	var live, most atomic.Int64
	end, reg := make(chan struct{}), prometheus.NewRegistry()
	h.work(worker.Options{Concurrency: slots, Metrics: worker.NewMetrics(reg)},
		deaf.Handle(func(context.Context, *queue.Run[none]) error {
			now := live.Add(1)
			defer live.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			<-end
			return nil
		}))
	for range jobs {
		h.add(adding(deaf, none{}))
	}
	for _, j := range h.jobs() {
		h.push(j.ref())
	}
	h.until(giveUpAfter, "every slot's run is reported", func() bool {
		return value(t, reg, "funnelwork_jobs_overruns_total") == slots
	})
	if n := live.Load(); n != slots {
		t.Errorf("%d runs are alive in %d slots", n, slots)
	}
	close(end)
	h.until(giveUpAfter, "all jobs ended", func() bool { return len(h.jobs()) == 0 })
	if n := most.Load(); n != slots {
		t.Errorf("%d runs were alive at once in %d slots", n, slots)
	}
}
