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

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/worker"
)

func TestTheFeederIsFairOverOrgsAndFillsNoWindowTwice(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 3 * queue.Window {
		h.add(adding(mark, none{}))
	}
	small := make([]id.ID, 4)
	for i := range small {
		small[i] = id.New()
		h.addFor(small[i], adding(mark, none{}), adding(mark, none{}))
	}
	h.exec("UPDATE job SET wake_at = NULL")
	l := h.ledger()
	fed := map[id.ID]int{}
	feed := func(limit int) int {
		refs, err := l.Feed(t.Context(), queue.Default, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refs {
			fed[r.Org]++
		}
		return len(refs)
	}
	if n := feed(10); n != 10 {
		t.Fatalf("fed %d, want 10", n)
	}
	for _, o := range small {
		if fed[o] != 2 {
			t.Errorf("a small org got %d of the first 10, want both of its 2", fed[o])
		}
	}
	for feed(1000) > 0 {
	}
	if fed[h.org] != queue.Window {
		t.Errorf("the large org got %d slots, want its window of %d", fed[h.org], queue.Window)
	}
}

func TestAJobOfAnOrgWithoutAFreeSlotWaitsForTheFeeder(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range queue.Window + 5 {
		h.add(adding(mark, none{}))
	}
	if n := h.count("SELECT count(*) FROM job WHERE wake_at IS NULL"); n != 5 {
		t.Errorf("%d jobs wait, want 5", n)
	}
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.until(15*time.Second, "all ran", func() bool { return len(h.jobs()) == 0 })
}

func TestAPausedLaneKindOrOrgIsLeftAloneUntilItIsResumed(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, p := range [][2]string{{"lane", "default"}, {"kind", mark.Name()}, {"org", h.org.String()}} {
		h.exec("INSERT INTO job_pause (scope, name) VALUES ($1, $2)", p[0], p[1])
		h.exec("DELETE FROM job")
		h.add(adding(mark, none{}), adding(mark, none{}, queue.At(time.Now().Add(-time.Second))))
		h.exec("UPDATE job SET wake_at = CASE WHEN id = (SELECT id FROM job ORDER BY id LIMIT 1) THEN now() END")
		l := h.ledger()
		look := func() int {
			w, err := l.Wake(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			f, err := l.Feed(t.Context(), queue.Default, 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(w.Refs) + len(f)
		}
		if n := look(); n != 0 {
			t.Errorf("%s paused: %d rows touched", p[0], n)
		}
		h.exec("DELETE FROM job_pause")
		if n := look(); n != 2 {
			t.Errorf("%s resumed: %d rows touched, want 2", p[0], n)
		}
	}
}

func TestLooksAtPendingTasksPushNothingTwice(t *testing.T) {
	t.Parallel()
	h := open(t)
	var refs []queue.Ref
	for range 30 {
		h.org = id.New()
		h.add(slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, 40)...)
	}
	for _, j := range h.jobs() {
		refs = append(refs, j.ref())
	}
	l := h.ledger()
	c := queue.NewCourier(l, h.link)
	if p, err := c.Push(t.Context(), refs...); err != nil || p.Added != len(refs) {
		t.Fatalf("%+v, %v", p, err)
	}
	h.exec("UPDATE job SET wake_at = now()")
	for looked := 0; looked < len(refs); {
		found, err := l.Wake(t.Context(), 500)
		if err != nil || len(found.Refs) == 0 {
			t.Fatalf("%d found, %v", len(found.Refs), err)
		}
		looked += len(found.Refs)
		if p, err := c.Push(t.Context(), found.Refs...); err != nil || p != (queue.Pushed{}) {
			t.Fatalf("pushed again: %+v, %v", p, err)
		}
	}
	if i, err := h.inspect().GetQueueInfo("default"); err != nil || i.Size != len(refs) {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestAJobThatLosesItsWorkerTwentyTimesIsDead(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}, queue.Dedupe("one")))
	c := queue.NewCourier(h.ledger(), h.link)
	for n := range queue.MaxLosses {
		j := h.only()
		if j.State != "ready" || j.Losses != n || j.Dispatch != n {
			t.Fatalf("before loss %d: %+v", n+1, j)
		}
		// As after a kill: asynq has the task as active, and nobody runs the row.
		if err := h.link.Del(t.Context(), "asynq:{default}:pending").Err(); err != nil {
			t.Fatal(err)
		}
		if err := h.link.HSet(t.Context(), "asynq:{default}:t:"+j.ref().TaskID(), "state", "active").Err(); err != nil {
			t.Fatal(err)
		}
		if p, err := c.Push(t.Context(), j.ref()); err != nil || p.Behind != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if j := h.only(); j.State != "dead" || j.Error != "lost its worker 20 times" || j.Attempt != 0 {
		t.Errorf("%+v", j)
	}
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.until(5*time.Second, "it is listed under Archived", func() bool { return len(h.archived()) >= 1 })
	h.add(adding(mark, none{}, queue.Dedupe("one")))
	if n := len(h.jobs()); n != 2 {
		t.Errorf("a dead job keeps its successor out: %d rows", n)
	}
}

func TestARowThatIsRunIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	j := h.only()
	if err := h.link.HSet(t.Context(), "asynq:{default}:t:"+j.ref().TaskID(), "state", "active").Err(); err != nil {
		t.Fatal(err)
	}
	c := queue.NewCourier(h.ledger(), h.link)
	pushNothing := func(how string) {
		if p, err := c.Push(t.Context(), j.ref()); err != nil || p != (queue.Pushed{}) {
			t.Errorf("%s: %+v, %v", how, p, err)
		}
	}
	if err := h.db.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		if _, err := h.ledger().Lock(t.Context(), tx, j.ID); err != nil {
			return err
		}
		pushNothing("locked")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ledger().Claim(t.Context(), h.org, j.ID); err != nil {
		t.Fatal(err)
	}
	pushNothing("claimed")
}

func TestDeadJobsAreListedAgainAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	h.push(h.only().ref())
	h.work(worker.Options{}, mark.HandleTx(func(context.Context, *postgres.Tx, *queue.Run[none]) error { return queue.Drop(errors.New("never")) }))
	h.until(5*time.Second, "it is archived", func() bool { return len(h.archived()) >= 1 })
	if err := h.link.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	h.until(5*time.Second, "it is archived again", func() bool { return slices.Contains(h.archived(), "attempt 1 of 8: never") })
	h.exec("UPDATE job SET wake_at = now()")
	h.until(5*time.Second, "what is listed is not looked at any more", func() bool { return h.only().WakeAt == nil })
}

func TestARedrivenJobRunsThoughItsArchivedTaskIsStillThere(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	h.push(h.only().ref())
	var healed atomic.Bool
	h.work(worker.Options{}, mark.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
		if !healed.Load() {
			return queue.Drop(errors.New("never"))
		}
		return markWork(ctx, tx, run)
	}))
	h.until(5*time.Second, "it is archived", func() bool { return len(h.archived()) >= 1 })
	healed.Store(true)
	h.exec("UPDATE job SET state = 'ready', run_at = now(), wake_at = now(), attempt = 0, losses = 0")
	h.until(5*time.Second, "it ran", func() bool { return h.doneRows() == 1 && len(h.jobs()) == 0 })
}

func TestARunWhoseJobWasTakenIsCancelledAndCannotCommit(t *testing.T) {
	t.Parallel()
	h := open(t)
	began := make(chan struct{})
	ended := make(chan error, 1)
	kind := queue.Define[none]("test.taken", queue.Options{})
	h.work(worker.Options{Timing: worker.Timing{Extend: 100 * time.Millisecond}}, kind.Handle(func(ctx context.Context, run *queue.Run[none]) error {
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
	case <-time.After(3 * time.Second):
		t.Fatal("not cancelled")
	}
	<-time.After(300 * time.Millisecond) // the verdict would follow at once
	if j := h.only(); j.Owner == nil || *j.Owner != other || h.doneRows() != 0 {
		t.Errorf("row %+v, %d effects", j, h.doneRows())
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
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("stopping took %s", took)
	}
	j := h.only()
	if j.Kind != long.Name() || j.Owner != nil || j.Attempt != 0 || j.WakeAt == nil || time.Until(*j.WakeAt) > 0 {
		t.Fatalf("handed back: %+v", j)
	}
	h.work(worker.Options{}, handlers...)
	h.until(3*time.Second, "the next worker ran it", func() bool { return len(h.jobs()) == 0 })
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
	h.until(5*time.Second, "it is put off", func() bool {
		if err := h.inspect().CancelProcessing(task); err != nil { // published: nobody may have listened yet
			t.Fatal(err)
		}
		j := h.only()
		return j.Owner == nil && j.WakeAt == nil && j.Attempt == 0 && time.Until(j.RunAt) > 50*time.Second
	})
}

func TestAJobStartsSoonAfterItsCommit(t *testing.T) {
	t.Parallel()
	h := open(t)
	pusher := queue.NewPusher(queue.PusherOptions{Redis: h.client(redisx.Request), Log: h.log})
	app, err := postgres.Open(t.Context(), postgres.Options{URL: h.db.URL, Role: postgres.App, AfterCommit: pusher.AfterCommit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(app.Close)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = pusher.Run(ctx) // never an error
	}()
	t.Cleanup(func() { cancel(); <-over })
	began := make(chan time.Time, 1)
	kind := queue.Define[none]("test.quick", queue.Options{})
	h.work(worker.Options{}, kind.Handle(func(context.Context, *queue.Run[none]) error { began <- time.Now(); return nil }))
	var took []time.Duration
	for n := range 41 {
		<-time.After(time.Duration(30+n%7*5) * time.Millisecond) // the worker is idle, and at no fixed point of its poll
		if err := app.Tx(t.Context(), h.org, func(tx *postgres.Tx) error { return kind.Add(t.Context(), tx, none{}) }); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		took = append(took, (<-began).Sub(start))
	}
	slices.Sort(took)
	t.Logf("commit to start: p50 %s, p95 %s", took[20], took[38])
	// The bench holds it to 30 ms on a quiet machine; this only tells a poll from the relay.
	if took[20] > 200*time.Millisecond {
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
	h.push(h.only().ref())
	<-began
	// The row is locked: extensions wait for it and time out.
	if _, err := h.sql.Exec(t.Context(), "BEGIN; SELECT FROM job FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	select {
	case at := <-ended:
		if took := at.Sub(start); took < time.Second || took > 2500*time.Millisecond {
			t.Errorf("ended after %s, want the guard's 1.5 s after the last extension", took)
		}
	case <-time.After(5 * time.Second):
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
	// Nobody of the two roles gets a session, and those that they have end.
	name := h.sql.Config().Database
	other := testkit.Pgx(t, strings.Replace(h.db.URL, "/"+name+"?", "/postgres?", 1))
	allow := func(yes bool) {
		if _, err := other.Exec(t.Context(), fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS %t", name, yes)); err != nil {
			t.Fatal(err)
		}
	}
	allow(false)
	h.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	close(finish)
	<-time.After(2 * time.Second) // the first tries fail
	if n := len(h.jobs()); n != 1 {
		t.Fatalf("%d jobs while the database is away", n)
	}
	allow(true)
	h.until(5*time.Second, "the verdict stands", func() bool { return len(h.jobs()) == 0 })
	if n := h.doneRows(); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}

// Behind a transaction pooler no statement is prepared, so every argument must be encoded without the server's help.
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
	call := queue.Define[none]("test.call", queue.Options{Backoff: func(int) time.Duration { return 10 * time.Millisecond }})
	h.work(worker.Options{Timing: worker.Timing{Extend: 50 * time.Millisecond, First: 300 * time.Millisecond}},
		mark.HandleTx(markWork),
		call.Handle(func(ctx context.Context, run *queue.Run[none]) error {
			select {
			case <-time.After(200 * time.Millisecond): // a few extensions
			case <-ctx.Done():
				return queue.Drop(context.Cause(ctx))
			}
			run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
			if run.Attempt < 2 {
				return errors.New("once more")
			}
			return nil
		}))
	for range queue.Window + 5 {
		h.add(adding(mark, none{}))
	}
	h.add(adding(call, none{}), adding(call, none{}))
	h.until(20*time.Second, "all ran", func() bool { return len(h.jobs()) == 0 })
	if n := h.doneRows(); n != queue.Window+5+4 {
		t.Errorf("%d effects, want %d", n, queue.Window+9)
	}
}
