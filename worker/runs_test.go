package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/worker"
)

func TestARunWhoseJobWasTakenIsCancelledAndCannotCommit(t *testing.T) {
	t.Parallel()
	h := open(t)
	began := make(chan struct{})
	ended := make(chan error, 1)
	kind := queue.Define[none]("test.taken", queue.Options{})
	h.work(worker.Options{Timing: worker.Timing{Extend: 100 * time.Millisecond}},
		kind.Handle(func(ctx context.Context, run *queue.Run[none]) error {
			run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
			close(began)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil
		}))
	h.add(adding(kind, none{}))
	h.push(h.only().ref())
	<-began
	other := id.New()
	h.exec("UPDATE job SET owner = $1", other)
	select {
	case err := <-ended:
		t.Logf("ended: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("not cancelled")
	}
	<-time.After(300 * time.Millisecond) // the completion would follow at once
	if diff := cmp.Diff(&other, h.only().Owner); diff != "" {
		t.Errorf("the owner of the row (-want +got):\n%s", diff)
	}
	if n := h.doneRows(); n != 0 {
		t.Errorf("%d effects, want 0", n)
	}
}

func TestAStoppingWorkerLetsRunsEndAndHandsBackWhatDoesNot(t *testing.T) {
	t.Parallel()
	h := open(t)
	quick := queue.Define[none]("test.quick", queue.Options{})
	long := queue.Define[none]("test.long", queue.Options{Timeout: time.Hour})
	began := make(chan struct{}, 2)
	var runs atomic.Int32
	handlers := []queue.Handler{
		quick.Handle(func(context.Context, *queue.Run[none]) error {
			began <- struct{}{}
			<-time.After(300 * time.Millisecond)
			return nil
		}),
		long.Handle(func(ctx context.Context, _ *queue.Run[none]) error {
			if runs.Add(1) > 1 {
				return nil
			}
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}),
	}
	stop := h.work(worker.Options{Grace: time.Second}, handlers...)
	h.add(adding(quick, none{}), adding(long, none{}))
	for _, j := range h.jobs() {
		h.push(j.ref())
	}
	<-began
	<-began
	start := time.Now()
	stop()
	if took := time.Since(start); took > time.Minute {
		t.Errorf("stopping took %s", took)
	}
	j := h.only()
	want := j
	want.Kind, want.Owner, want.Attempt = long.Name(), nil, 0
	if diff := cmp.Diff(want, j); diff != "" {
		t.Fatalf("handed back (-want +got):\n%s", diff)
	}
	if j.WakeAt == nil || time.Until(*j.WakeAt) > 0 {
		t.Fatalf("handed back: wake_at %v, want one that has passed", j.WakeAt)
	}
	h.work(worker.Options{}, handlers...)
	h.until(giveUpAfter, "the next worker ran it", func() bool { return len(h.jobs()) == 0 })
}

func TestAJobCancelledInTheDashboardComesBackInAMinute(t *testing.T) {
	t.Parallel()
	h := open(t)
	began := make(chan struct{})
	kind := queue.Define[none]("test.cancelled", queue.Options{})
	h.work(worker.Options{}, kind.Handle(func(ctx context.Context, _ *queue.Run[none]) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}))
	h.add(adding(kind, none{}))
	task := h.only().ref().TaskID()
	h.push(h.only().ref())
	<-began
	h.until(giveUpAfter, "it is put off", func() bool {
		if err := h.inspect().CancelProcessing(task); err != nil { // a publication: there may be no subscriber yet
			t.Fatal(err)
		}
		j := h.only()
		return j.Owner == nil && j.WakeAt == nil && j.Attempt == 0 && time.Until(j.RunAt) > 50*time.Second
	})
}

func TestAJobStartsSoonAfterItsCommit(t *testing.T) {
	t.Parallel()
	h := open(t)
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: h.client(redisx.Request), Log: h.log})
	app, err := postgres.Open(t.Context(),
		postgres.Options{URL: h.db.URL, Role: postgres.App, AfterCommit: pusher.AfterCommit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(app.Close)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = pusher.Run(ctx) // always nil
	}()
	t.Cleanup(func() {
		cancel()
		<-over
	})
	began := make(chan time.Time, 1)
	kind := queue.Define[none]("test.quick", queue.Options{})
	h.work(worker.Options{}, kind.Handle(func(context.Context, *queue.Run[none]) error {
		began <- time.Now()
		return nil
	}))
	var took []time.Duration
	for n := range 41 {
		// The worker is idle, at a random point of its poll interval.
		<-time.After(time.Duration(30+n%7*5) * time.Millisecond)
		if err := app.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
			return kind.Add(t.Context(), tx, none{})
		}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		took = append(took, (<-began).Sub(start))
	}
	slices.Sort(took)
	t.Logf("commit to start: p50 %s, p95 %s", took[20], took[38])
	// The benchmark requires 30 ms on a quiet machine; the relay repairs a missed push after 3 s.
	if took[20] > 2*time.Second {
		t.Errorf("p50 %s", took[20])
	}
}

func TestARunThatCannotExtendItsLeaseEnds(t *testing.T) {
	t.Parallel()
	h := open(t)
	began := make(chan struct{})
	ended := make(chan time.Time, 1)
	kind := queue.Define[none]("test.stalled", queue.Options{})
	timing := worker.Timing{Extend: 200 * time.Millisecond, Guard: 1500 * time.Millisecond}
	h.work(worker.Options{Timing: timing}, kind.Handle(func(ctx context.Context, _ *queue.Run[none]) error {
		close(began)
		<-ctx.Done()
		ended <- time.Now()
		return context.Cause(ctx)
	}))
	h.add(adding(kind, none{}))
	start := time.Now()
	h.push(h.only().ref())
	<-began
	// The row is locked, so extensions wait for it and time out.
	if _, err := h.sql.Exec(t.Context(), "BEGIN; SELECT FROM job FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	select {
	case at := <-ended:
		if took := at.Sub(start); took < timing.Guard {
			t.Errorf("ended after %s, want the guard's 1.5 s after the claim or the last extension", took)
		}
	case <-time.After(time.Minute):
		t.Fatal("not ended")
	}
	h.exec("ROLLBACK")
}

func TestAVerdictWaitsForPostgres(t *testing.T) {
	t.Parallel()
	h := open(t)
	finish := make(chan struct{})
	began := make(chan struct{})
	kind := queue.Define[none]("test.waits", queue.Options{})
	h.work(worker.Options{}, kind.Handle(func(_ context.Context, run *queue.Run[none]) error {
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
		close(began)
		<-finish
		return nil
	}))
	h.add(adding(kind, none{}))
	h.push(h.only().ref())
	<-began
	// The two roles get no new sessions, and their existing sessions end.
	name := h.sql.Config().Database
	other := testkit.Pgx(t, strings.Replace(h.db.URL, "/"+name+"?", "/postgres?", 1))
	allow := func(yes bool) {
		if _, err := other.Exec(t.Context(),
			fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %t", name, yes)); err != nil {
			t.Fatal(err)
		}
	}
	allow(false)
	h.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> " +
		"pg_backend_pid()")
	close(finish)
	<-time.After(2 * time.Second) // the first attempts fail
	if n := len(h.jobs()); n != 1 {
		t.Fatalf("%d jobs while the database is away", n)
	}
	allow(true)
	h.until(giveUpAfter, "the verdict stands", func() bool { return len(h.jobs()) == 0 })
	if n := h.doneRows(); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// Behind a transaction pooler no statement is prepared, so every argument must be encoded without the server's types.
func TestEveryTransitionWorksBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	h := open(t)
	pool := func(role string) *postgres.DB {
		db, err := postgres.Open(t.Context(), postgres.Options{URL: h.db.URL, Role: role, Pooler: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		return db
	}
	h.db.App, h.db.System = pool(postgres.App), pool(postgres.System)
	call := queue.Define[none]("test.call", queue.Options{Backoff: func(int) time.Duration {
		return 10 * time.Millisecond
	}})
	h.work(worker.Options{Timing: worker.Timing{Extend: 50 * time.Millisecond, First: 300 * time.Millisecond}},
		mark.HandleTx(markWork),
		call.Handle(func(ctx context.Context, run *queue.Run[none]) error {
			select {
			case <-time.After(200 * time.Millisecond): // some extensions
			case <-ctx.Done():
				return queue.Drop(context.Cause(ctx))
			}
			run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
			if run.Attempt < 2 {
				return errors.New("once more")
			}
			return nil
		}))
	for range queue.MaxInFlight + 5 {
		h.add(adding(mark, none{}))
	}
	h.add(adding(call, none{}), adding(call, none{}))
	h.until(giveUpAfter, "all ran", func() bool { return len(h.jobs()) == 0 })
	if n := h.doneRows(); n != queue.MaxInFlight+5+4 {
		t.Errorf("%d effects, want %d", n, queue.MaxInFlight+9)
	}
}
