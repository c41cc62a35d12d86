package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/worker"
)

func TestTheFeederIsFairOverOrgsAndFillsNoWindowTwice(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 3 * queue.MaxInFlight {
		h.add(adding(mark, none{}))
	}
	small := make([]id.ID, 4)
	for i := range small {
		small[i] = id.New()
		h.addFor(small[i], adding(mark, none{}), adding(mark, none{}))
	}
	h.exec("UPDATE job SET wake_at = NULL")
	l := h.feeder()
	fed := map[id.ID]int{}
	feed := func(limit int) int {
		refs, err := l.Round(t.Context(), queue.Default, limit)
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
	if fed[h.org] != queue.MaxInFlight {
		t.Errorf("the large org got %d slots, want its window of %d", fed[h.org], queue.MaxInFlight)
	}
}

func TestAJobOfAnOrgWithoutAFreeSlotWaitsForTheFeeder(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range queue.MaxInFlight + 5 {
		h.add(adding(mark, none{}))
	}
	if n := h.count("SELECT count(*) FROM job WHERE wake_at IS NULL"); n != 5 {
		t.Errorf("%d jobs wait, want 5", n)
	}
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.until(giveUpAfter, "all ran", func() bool { return len(h.jobs()) == 0 })
}

func TestAPausedLaneKindOrOrgIsLeftAloneUntilItIsResumed(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, p := range [][2]string{{"lane", "default"}, {"kind", mark.Name()}, {"org", h.org.String()}} {
		h.exec("INSERT INTO job_pause (scope, name) VALUES ($1, $2)", p[0], p[1])
		h.exec("DELETE FROM job")
		h.add(adding(mark, none{}), adding(mark, none{}, queue.At(time.Now().Add(-time.Second))))
		h.exec("UPDATE job SET wake_at = CASE WHEN id = (SELECT id FROM job ORDER BY id LIMIT 1) THEN now() END")
		l, feeder := h.store(), h.feeder()
		look := func() int {
			w, err := l.Wake(t.Context(), 10, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := feeder.Round(t.Context(), queue.Default, 10)
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
	for range 250 { // 10,000 jobs
		h.org = id.New()
		h.add(slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, 40)...)
	}
	for _, j := range h.jobs() {
		refs = append(refs, j.ref())
	}
	l := h.store()
	c := dispatch.New(l, h.link)
	if p, err := c.Push(t.Context(), refs...); err != nil || p.Added != len(refs) {
		t.Fatalf("%+v, %v", p, err)
	}
	h.exec("UPDATE job SET wake_at = now()")
	for looked := 0; looked < len(refs); {
		found, err := l.Wake(t.Context(), 500, time.Time{})
		if err != nil || len(found.Refs) == 0 {
			t.Fatalf("%d found, %v", len(found.Refs), err)
		}
		looked += len(found.Refs)
		if p, err := c.Push(t.Context(), found.Refs...); err != nil || p != (dispatch.Pushed{}) {
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
	c := dispatch.New(h.store(), h.link)
	for n := range store.MaxLosses {
		j := h.only()
		want := j
		want.State, want.Losses, want.Dispatch = "ready", n, n
		if diff := cmp.Diff(want, j); diff != "" {
			t.Fatalf("before loss %d (-want +got):\n%s", n+1, diff)
		}
		// As after a kill: the task is active in asynq, and no run owns the row.
		if err := h.link.Del(t.Context(), asynqx.Key("default", asynqx.Pending)).Err(); err != nil {
			t.Fatal(err)
		}
		if err := h.link.HSet(t.Context(), asynqx.TaskKey("default", j.ref().TaskID()),
			"state", "active").Err(); err != nil {
			t.Fatal(err)
		}
		if p, err := c.Push(t.Context(), j.ref()); err != nil || p.Behind != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	j := h.only()
	want := j
	want.State, want.Error, want.Attempt = "dead", "lost its worker 20 times", 0
	if diff := cmp.Diff(want, j); diff != "" {
		t.Errorf("after the last loss (-want +got):\n%s", diff)
	}
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.until(giveUpAfter, "it is listed under Archived", func() bool { return len(h.archived()) >= 1 })
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
	if err := h.link.HSet(t.Context(), asynqx.TaskKey("default", j.ref().TaskID()),
		"state", "active").Err(); err != nil {
		t.Fatal(err)
	}
	c := dispatch.New(h.store(), h.link)
	pushNothing := func(how string) {
		if p, err := c.Push(t.Context(), j.ref()); err != nil || p != (dispatch.Pushed{}) {
			t.Errorf("%s: %+v, %v", how, p, err)
		}
	}
	if err := h.db.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		if _, err := h.store().Lock(t.Context(), tx, j.ID); err != nil {
			return err
		}
		pushNothing("locked")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store().Claim(t.Context(), h.org, j.ID); err != nil {
		t.Fatal(err)
	}
	pushNothing("claimed")
}

func TestDeadJobsAreListedAgainAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	h.push(h.only().ref())
	h.work(worker.Options{}, mark.HandleTx(func(context.Context, *postgres.Tx, *queue.Run[none]) error {
		return queue.Drop(errors.New("never"))
	}))
	h.until(giveUpAfter, "it is archived", func() bool { return len(h.archived()) >= 1 })
	if err := h.link.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	h.until(giveUpAfter, "it is archived again", func() bool {
		return slices.Contains(h.archived(), "attempt 1 of 8: never")
	})
	h.exec("UPDATE job SET wake_at = now()")
	h.until(giveUpAfter, "what is listed is not looked at any more", func() bool { return h.only().WakeAt == nil })
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
	h.until(giveUpAfter, "it is archived", func() bool { return len(h.archived()) >= 1 })
	healed.Store(true)
	h.exec("UPDATE job SET state = 'ready', run_at = now(), wake_at = now(), attempt = 0, losses = 0")
	h.until(giveUpAfter, "it ran", func() bool { return h.doneRows() == 1 && len(h.jobs()) == 0 })
}
