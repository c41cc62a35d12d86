package worker_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/worker"
)

// A run that is put off costs as much as one that calls. Of an org that makes many short calls at once, few are.
func TestManyShortCallsOfAnOrgTakeHardlyMoreRunsThanCalls(t *testing.T) {
	t.Parallel()
	h := open(t)
	var runs atomic.Int64
	short := queue.Define[none]("test.short_call", queue.Options{})
	const jobs = 600
	h.add(slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(short, none{})}, jobs)...)
	for _, j := range h.jobs() {
		h.push(j.ref())
	}
	h.work(worker.Options{Concurrency: 64}, short.Handle(func(ctx context.Context, run *queue.Run[none]) error {
		runs.Add(1)
		if err := run.BeginCall("mail.example:25"); err != nil {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond): // the call
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	h.until(giveUpAfter, "all have called", func() bool { return len(h.jobs()) == 0 })
	if n := runs.Load(); n > jobs*3/2 {
		t.Errorf("%d runs for %d calls", n, jobs)
	} else {
		t.Logf("%d runs for %d calls", n, jobs)
	}
}
