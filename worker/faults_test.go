package worker_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/worker"
)

// most is the protocol's bound for a lost run or task: Lease and one scan, plus slack for a busy machine.
const most = 22 * time.Second

func TestAJobRunsWithinFiveSecondsWhenTheAPIIsKilledBetweenCommitAndPush(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.work(worker.Options{}, mark.HandleTx(markWork))
	_ = h.process("api killed after commit").Wait()
	h.only()
	h.until(giveUpAfter, "the job ran", func() bool { return h.doneRows() == 1 })
}

func TestEveryOpenJobRunsOnceAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	h := open(t)
	const each = 70 // more than MaxInFlight
	for range 5 {
		h.org = newOrg()
		for range each {
			h.add(adding(mark, none{}))
		}
	}
	h.work(worker.Options{}, mark.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
		<-time.After(5 * time.Millisecond) // the work takes a while
		return markWork(ctx, tx, run)
	}))
	for n := range 3 {
		h.until(giveUpAfter, "some of them ran", func() bool { return h.doneRows() > (n+1)*50 })
		if err := h.link.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	h.until(giveUpAfter, "all of them ran", func() bool { return len(h.jobs()) == 0 })
	if n, distinct := h.doneRows(), h.count("SELECT count(DISTINCT job) FROM done"); n != 5*each || distinct != 5*each {
		t.Errorf("%d effects of %d jobs, want %d of each", n, distinct, 5*each)
	}
	if queues, err := h.inspect().Queues(); err != nil || len(queues) != len(queue.Lanes()) {
		t.Errorf("queues that the dashboard lists: %v, %v", queues, err)
	}
}

// The relay has checked the row once, so the next check is a whole Lease away.
func TestAPushedJobWhoseTaskIsDeletedFromRedisRunsWithin21s(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	j := h.only()
	h.push(j.ref())
	h.exec("UPDATE job SET wake_at = now()")
	if found, err := h.store().Wake(t.Context(), 10, time.Time{}); err != nil || len(found.Refs) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if err := h.inspect().DeleteTask("default", j.ref().TaskID()); err != nil {
		t.Fatal(err)
	}
	if err := h.link.SetNX(t.Context(), asynqx.Key("default", asynqx.Epoch), "unchanged", 0).Err(); err != nil {
		t.Fatal(err)
	}
	h.work(worker.Options{}, mark.HandleTx(markWork))
	took := h.until(most, "the job ran", func() bool { return h.doneRows() == 1 })
	t.Logf("ran %s after its task was deleted", took)
}

func TestARunThatFailsAfterRedisLostEverythingIsRetried(t *testing.T) {
	t.Parallel()
	h := open(t)
	kind := queue.Define[none]("test.fails", queue.Options{Backoff: func(int) time.Duration {
		return 500 * time.Millisecond
	}})
	flushed, attempts := make(chan struct{}), make(chan int, 10)
	h.work(worker.Options{}, kind.Handle(func(_ context.Context, run *queue.Run[none]) error {
		attempts <- run.Attempt
		if run.Attempt == 1 {
			<-flushed
			return errors.New("no luck")
		}
		return nil
	}))
	h.add(adding(kind, none{}))
	h.push(h.only().ref())
	if n := <-attempts; n != 1 {
		t.Fatalf("attempt %d first", n)
	}
	if err := h.link.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	close(flushed)
	select {
	case n := <-attempts:
		if n != 2 {
			t.Errorf("attempt %d after the failure, want 2", n)
		}
	case <-time.After(time.Minute):
		t.Fatal("not retried")
	}
	h.until(giveUpAfter, "done", func() bool { return len(h.jobs()) == 0 })
}

func TestAJobWhoseTaskIsActiveWithoutALeaseRunsUnderANewName(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	stuck := h.only().ref().TaskID()
	if err := h.link.HSet(t.Context(), asynqx.TaskKey("default", stuck),
		"state", "active", "msg", "").Err(); err != nil {
		t.Fatal(err)
	}
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.until(most, "the job ran", func() bool { return h.doneRows() == 1 })
}

func TestARunStoppedPastItsLeaseCannotCommitWhenAnotherSlotOfItsProcessHasRunTheJob(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(stubborn, none{}))
	h.push(h.only().ref())
	p := h.process("worker that waits in work")
	notes := func(text string) int { return h.count("SELECT count(*) FROM done WHERE note = $1", text) }
	h.until(giveUpAfter, "the first run began", func() bool { return notes("started") == 1 })
	testkit.Stop(t, p.Process)
	// Another process's relay finds the expired lease.
	jobs := h.store()
	dispatcher := dispatch.New(jobs, h.link)
	took := h.until(giveUpAfter, "the lease lapsed", func() bool {
		found, err := jobs.Reap(t.Context(), 10, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Refs) == 0 {
			return false
		}
		if _, err := dispatcher.Push(t.Context(), found.Refs...); err != nil {
			t.Fatal(err)
		}
		return true
	})
	t.Logf("reaped after %s", took)
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	h.until(giveUpAfter, "another slot ran the job", func() bool { return len(h.jobs()) == 0 })
	h.exec("INSERT INTO done (org_id, job, note) VALUES ($1, $1, 'go')", h.org)
	h.until(giveUpAfter, "the first run returned", func() bool { return notes("the first run returned") == 1 })
	// The completion follows at once; half a second is ample.
	<-time.After(500 * time.Millisecond)
	if first, second := notes("effect of the first run"), notes("effect of the second run"); first != 0 || second != 1 {
		t.Errorf("effects: first run %d, second run %d; want 0 and 1", first, second)
	}
}

func TestTheJobOfAKilledWorkerRunsAgainWithin21sAndSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, part string }{
		{"claimed", "worker that waits in work"},
		{"locked", "worker that waits in a transaction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			kind := map[string]queue.Kind[none]{"claimed": stubborn, "locked": mark}[c.name]
			h.add(adding(kind, none{}))
			h.push(h.only().ref())
			p := h.process(c.part)
			h.until(giveUpAfter, "the run began", func() bool { return h.doneRows() == 1 })
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			attempt := make(chan int, 1)
			h.work(worker.Options{}, kind.Handle(func(_ context.Context, run *queue.Run[none]) error {
				attempt <- run.Attempt
				return nil
			}))
			start := time.Now()
			select {
			case n := <-attempt:
				t.Logf("ran again after %s", time.Since(start))
				if n != 1 {
					t.Errorf("attempt %d, want 1", n)
				}
			case <-time.After(most):
				t.Fatalf("not run again: %+v", h.jobs())
			}
			h.until(giveUpAfter, "done", func() bool { return len(h.jobs()) == 0 })
		})
	}
}

func TestTheBacklogDrainsWithinTwoSecondsOfRedissReturn(t *testing.T) {
	t.Parallel()
	h := open(t)
	reg := prometheus.NewRegistry()
	h.work(worker.Options{Metrics: worker.NewMetrics(reg)}, mark.HandleTx(markWork))
	up := func() bool { return value(t, reg, "funnelwork_jobs_redis_up") == 1 }
	h.until(giveUpAfter, "the worker knows redis", up)
	h.redis.Stop()
	for range 80 {
		h.add(adding(mark, none{}))
	}
	h.until(giveUpAfter, "the worker misses redis", func() bool { return !up() })
	touched := value(t, reg, "funnelwork_jobs_relay_rows_total")
	<-time.After(3500 * time.Millisecond) // past the rows' first check
	if n := value(t, reg, "funnelwork_jobs_relay_rows_total"); n != touched {
		t.Errorf("%v rows touched while redis was away", n-touched)
	}
	h.redis.Start()
	h.until(giveUpAfter, "the first ran", func() bool { return h.doneRows() > 0 })
	h.until(giveUpAfter, "all ran", func() bool { return len(h.jobs()) == 0 })
	if n := h.doneRows(); n != 80 {
		t.Errorf("%d effects, want 80", n)
	}
}
