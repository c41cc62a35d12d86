package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/worker"
)

// Tasks that a full worker prefetched beyond its slots would wait for it although other workers have free slots.
func TestAWorkerTakesNoMoreThanItHasSlotsFor(t *testing.T) {
	t.Parallel()
	const jobs = 24
	h := open(t)
	h.epochs()
	begun, over := make(chan struct{}, jobs), make(chan struct{})
	wait := queue.Define[none]("test.wait", queue.Options{Timeout: time.Minute})
	handler := wait.Handle(func(ctx context.Context, _ *queue.Run[none]) error {
		begun <- struct{}{}
		select {
		case <-over:
		case <-ctx.Done():
		}
		return nil
	})
	for range jobs {
		h.add(adding(wait, none{}))
	}
	for _, j := range h.jobs() {
		h.push(j.ref())
	}
	h.work(worker.Options{Concurrency: 4}, handler)
	for range 4 {
		<-begun
	}
	h.work(worker.Options{Concurrency: jobs}, handler)
	for n := range jobs - 4 {
		select {
		case <-begun:
		case <-time.After(store.Lease / 2):
			t.Fatalf("%d of %d jobs run, with slots for all", n+4, jobs)
		}
	}
	for _, j := range h.jobs() {
		if j.Dispatch != 0 {
			t.Errorf("%+v was left behind by the first", j)
		}
	}
	close(over)
	h.until(giveUpAfter, "all are done", func() bool { return len(h.jobs()) == 0 })
}

func TestAWorkerThatEndsHandsBackWhatItTook(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.epochs()
	const jobs = 40
	for round := range 5 {
		before := h.doneRows()
		for range jobs {
			h.add(adding(mark, none{}))
		}
		for _, j := range h.jobs() {
			h.push(j.ref())
		}
		stop := h.work(worker.Options{Concurrency: 8}, mark.HandleTx(markWork))
		h.until(giveUpAfter, "some are done", func() bool { return h.doneRows() > before })
		stop()
		info, err := h.inspect().GetQueueInfo("default")
		if err != nil {
			t.Fatal(err)
		}
		if info.Active != 0 {
			t.Errorf("round %d: asynq counts %d tasks as running after the worker's end", round, info.Active)
		}
		for _, j := range h.jobs() {
			// On a busy machine the relay checks a job that has waited for long. It takes the task that is just being
			// prefetched for one that has lost its worker.
			if (j.Dispatch != 0 || j.Losses != 0) && time.Since(j.RunAt) < store.First {
				t.Errorf("round %d: %+v was left behind", round, j)
			}
		}
	}
	h.work(worker.Options{Concurrency: 8}, mark.HandleTx(markWork))
	h.until(giveUpAfter, "all are done", func() bool { return h.doneRows() == 5*jobs })
}

// epochs sets the epoch keys. Without them a worker scans all jobs at its start, including those in flight.
func (h *house) epochs() {
	h.t.Helper()
	for _, lane := range queue.Lanes() {
		if err := h.link.SetNX(h.t.Context(), asynqx.Key(lane, asynqx.Epoch), "known", 0).Err(); err != nil {
			h.t.Fatal(err)
		}
	}
}
