package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/worker"
)

// An outcome has the same effect for both sorts of kinds: call-out kinds and Tx kinds end with the same row.
func TestAVerdictDecidesWhatBecomesOfTheRow(t *testing.T) {
	t.Parallel()
	hour := func(int) time.Duration { return time.Hour }
	for _, c := range []struct {
		name     string
		max      int
		work     func() error
		state    string // "" if the row is deleted
		attempt  int
		text     string
		in       time.Duration
		archived bool
	}{
		{name: "done", max: 3, work: func() error { return nil }},
		{name: "error", max: 3, work: func() error {
			return errors.New("no\x00 luck")
		}, state: "ready", attempt: 1, text: "no luck", in: time.Hour},
		{name: "last error", max: 1, work: func() error {
			return errors.New("no luck")
		}, state: "dead", attempt: 1, text: "no luck", archived: true},
		{name: "drop", max: 3, work: func() error {
			return queue.Drop(errors.New("never"))
		}, state: "dead", attempt: 1, text: "never", archived: true},
		{name: "snooze", max: 1, work: func() error {
			return queue.Snooze(2 * time.Hour)
		}, state: "ready", attempt: 0, in: 2 * time.Hour},
		{name: "retry in", max: 3, work: func() error {
			return queue.RetryIn(errors.New("busy"), 3*time.Hour)
		}, state: "ready", attempt: 1, text: "busy", in: 3 * time.Hour},
		{name: "panic", max: 3, work: func() error {
			panic("ouch")
		}, state: "ready", attempt: 1, text: "panic: ouch", in: time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			call := queue.Define[none]("test.call", queue.Options{MaxAttempts: c.max, Backoff: hour})
			tx := queue.Define[none]("test.tx", queue.Options{MaxAttempts: c.max, Backoff: hour})
			first := queue.Define[none]("test.first", queue.Options{})
			h.add(adding(first, none{}))
			h.exec("UPDATE job SET wake_at = now()")
			h.work(worker.Options{},
				first.HandleTx(func(context.Context, *postgres.Tx, *queue.Run[none]) error { return nil }),
				call.Handle(func(_ context.Context, run *queue.Run[none]) error {
					run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
					return c.work()
				}),
				tx.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
					if err := markWork(ctx, tx, run); err != nil {
						return err
					}
					return c.work()
				}))
			// The relay's first scan marks every row for a push, and may push a job that ran meanwhile. The scan is
			// over when this job, which only the relay pushes, is done.
			h.until(giveUpAfter, "the relay has looked", func() bool { return len(h.jobs()) == 0 })
			h.add(adding(call, none{}), adding(tx, none{}))
			before := h.jobs()
			h.push(before[0].ref(), before[1].ref())
			h.until(giveUpAfter, "both ran", func() bool {
				for _, j := range h.jobs() {
					if j.State == "ready" && j.WakeAt != nil {
						return false
					}
				}
				return true
			})
			after := h.jobs()
			if c.state == "" {
				if len(after) != 0 || h.doneRows() != 2 {
					t.Fatalf("%d rows and %d effects, want 0 and 2", len(after), h.doneRows())
				}
				return
			}
			for _, j := range after {
				want := j
				want.State, want.Attempt, want.Error, want.Owner = c.state, c.attempt, c.text, nil
				if diff := cmp.Diff(want, j); diff != "" {
					t.Errorf("row (-want +got):\n%s", diff)
				}
				if in := time.Until(j.RunAt); c.in > 0 && (in < c.in-time.Minute || in > c.in) {
					t.Errorf("%s runs in %s, want %s", j.Kind, in, c.in)
				}
			}
			// A call-out kind's effects are written with any outcome; a Tx kind's failure rolls its effects back.
			if n := h.doneRows(); n != 1 {
				t.Errorf("%d effects, want the call-out kind's alone", n)
			}
			if c.archived {
				h.until(giveUpAfter, "both are listed under Archived", func() bool { return len(h.archived()) == 2 })
				if text := h.archived()[0]; !strings.HasPrefix(text, "attempt 1 of ") {
					t.Errorf("archived with %q", text)
				}
				return
			}
			h.until(giveUpAfter, "both are listed under Retry", func() bool {
				l, err := h.inspect().ListRetryTasks("default")
				return err == nil && len(l) == 2
			})
		})
	}
}

func TestARetriedJobRunsAgainAndSaysWhichAttemptItIs(t *testing.T) {
	t.Parallel()
	h := open(t)
	kind := queue.Define[none]("test.thrice", queue.Options{Backoff: func(int) time.Duration {
		return 50 * time.Millisecond
	}})
	h.work(worker.Options{}, kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
		if run.Attempt < 3 {
			return errors.New("not yet")
		}
		return markWork(ctx, tx, run)
	}))
	h.add(adding(kind, none{}))
	h.push(h.only().ref())
	h.until(giveUpAfter, "done", func() bool { return len(h.jobs()) == 0 })
	if n := h.count("SELECT count(*) FROM done WHERE note = 'attempt 3'"); n != 1 {
		t.Errorf("%d effects of the third attempt, want 1", n)
	}
}

func TestADelayedJobRunsAtItsTimeAndNotBefore(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.add(adding(mark, none{}, queue.At(time.Now().Add(1500*time.Millisecond))))
	due := h.only().RunAt
	h.until(giveUpAfter, "done", func() bool { return len(h.jobs()) == 0 })
	var at time.Time
	if err := h.sql.QueryRow(t.Context(), "SELECT at FROM done").Scan(&at); err != nil {
		t.Fatal(err)
	}
	if late := at.Sub(due); late < 0 || late > 15*time.Second {
		t.Errorf("ran %s after its time", late)
	}
}

func TestADeliveryBeforeItsTimeOrWithoutASlotRunsNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	reg := prometheus.NewRegistry()
	h.add(adding(mark, none{}, queue.At(time.Now().Add(time.Hour))), adding(mark, none{}))
	jobs := h.jobs()
	h.exec("UPDATE job SET wake_at = NULL") // no slot
	h.push(jobs[0].ref(), jobs[1].ref())
	gone := jobs[0].ref()
	gone.ID = id.New()
	h.push(gone)
	foreign := jobs[1].ref()
	foreign.Org, foreign.Dispatch = id.New(), 1
	h.push(foreign)
	h.work(worker.Options{Metrics: worker.NewMetrics(reg), Timing: worker.Timing{Feed: time.Hour}},
		mark.HandleTx(markWork))
	// The feeder's first round may give the due job a slot, so one of the four deliveries may run.
	h.until(giveUpAfter, "all deliveries missed but the fed one", func() bool {
		return value(t, reg, "funnelwork_jobs_missed_claims_total") >= 3
	})
	row := h.jobs()[0]
	want := row
	want.ID, want.Attempt, want.WakeAt = jobs[0].ID, 0, nil
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("the job that is not due (-want +got):\n%s", diff)
	}
	if n := h.count("SELECT count(*) FROM done WHERE job = $1", jobs[0].ID); n != 0 {
		t.Errorf("the job that is not due ran %d times", n)
	}
	h.until(giveUpAfter, "the deliveries vanished", func() bool {
		i, err := h.inspect().GetQueueInfo("default")
		return err == nil && i.Size == 0
	})
}

func TestAClaimWithoutASlotFindsNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	j := h.only()
	h.exec("UPDATE job SET wake_at = NULL")
	if _, err := h.store().Claim(t.Context(), h.org, j.ID); !errors.Is(err, store.ErrMissed) {
		t.Errorf("claim: %v, want missed", err)
	}
	err := h.db.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		_, err := h.store().Lock(t.Context(), tx, j.ID)
		return err
	})
	if !errors.Is(err, store.ErrMissed) {
		t.Errorf("lock: %v, want missed", err)
	}
}

// Two deliveries of one row run at once; the second finds the row locked. Each failure raises the attempt by one, never
// by two.
func TestTwoDeliveriesOfAFailingTxJobSpendOneAttemptAtATime(t *testing.T) {
	t.Parallel()
	h := open(t)
	kind := queue.Define[none]("test.fails", queue.Options{Backoff: func(int) time.Duration { return time.Hour }})
	attempts := make(chan int, 10)
	h.work(worker.Options{}, kind.HandleTx(func(_ context.Context, _ *postgres.Tx, run *queue.Run[none]) error {
		attempts <- run.Attempt
		<-time.After(100 * time.Millisecond) // both deliveries have arrived
		return errors.New("no luck")
	}))
	h.add(adding(kind, none{}))
	for turn := 1; turn <= 2; turn++ {
		first := h.only().ref()
		first.Dispatch = 10 * turn
		second := first
		second.Dispatch++
		h.push(first, second)
		h.until(giveUpAfter, "the attempt failed", func() bool {
			return h.only().Attempt >= turn && h.only().WakeAt == nil
		})
		h.until(giveUpAfter, "both deliveries are over", func() bool {
			i, err := h.inspect().GetQueueInfo("default")
			return err == nil && i.Active == 0 && i.Pending == 0
		})
		type facts struct{ Ran, Row, More int }
		if diff := cmp.Diff(facts{Ran: turn, Row: turn},
			facts{<-attempts, h.only().Attempt, len(attempts)}); diff != "" {
			t.Fatalf("turn %d: attempts (-want +got):\n%s", turn, diff)
		}
		h.exec("UPDATE job SET run_at = now(), wake_at = now() + interval '1 hour'")
	}
}

func TestEffectsThatCannotBeWrittenAreTheRunsFailure(t *testing.T) {
	t.Parallel()
	h := open(t)
	kind := queue.Define[none]("test.effects", queue.Options{Backoff: func(int) time.Duration { return time.Hour }})
	h.work(worker.Options{}, kind.Handle(func(_ context.Context, run *queue.Run[none]) error {
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			tx.Queue("INSERT INTO done (org_id, job) VALUES ($1, NULL)", run.Org)
			return nil
		})
		return nil
	}))
	h.add(adding(kind, none{}))
	h.push(h.only().ref())
	h.until(giveUpAfter, "the failure stands", func() bool { return h.only().Attempt == 1 })
	if n := h.doneRows(); n != 0 {
		t.Errorf("%d effects of a run whose effects failed", n)
	}
}

func TestATimeLimitInTheMiddleOfAStatementIsOneFailure(t *testing.T) {
	t.Parallel()
	h := open(t)
	kind := queue.Define[none]("test.slow",
		queue.Options{Timeout: 200 * time.Millisecond, Backoff: func(int) time.Duration { return time.Hour }})
	h.work(worker.Options{}, kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
		if err := markWork(ctx, tx, run); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "SELECT pg_sleep(60)")
		return err
	}))
	h.add(adding(kind, none{}))
	h.push(h.only().ref())
	h.until(giveUpAfter, "the failure stands", func() bool { return h.only().Attempt == 1 })
	if j := h.only(); j.WakeAt != nil || h.doneRows() != 0 {
		t.Errorf("row %+v, %d effects", j, h.doneRows())
	}
}

func TestAKindThatThisBinaryLacksWaitsForOneThatHasIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.add(adding(queue.Define[none]("test.from_the_future", queue.Options{MaxAttempts: 1}), none{}))
	h.push(h.only().ref())
	h.until(giveUpAfter, "it is put off", func() bool {
		j := h.only()
		return j.WakeAt == nil && time.Until(j.RunAt) > 50*time.Second
	})
	if j := h.only(); j.State != "ready" || j.Attempt != 0 {
		t.Errorf("row %+v", j)
	}
}

func TestArgsThatCannotBeReadAreDropped(t *testing.T) {
	t.Parallel()
	h := open(t)
	typed := queue.Define[struct{ N int }]("test.typed", queue.Options{})
	h.add(adding(queue.Define[map[string]string]("test.typed", queue.Options{}), map[string]string{"N": "one"}))
	h.push(h.only().ref())
	h.work(worker.Options{}, typed.Handle(func(context.Context, *queue.Run[struct{ N int }]) error { return nil }))
	h.until(giveUpAfter, "it is dead", func() bool { return h.only().State == "dead" })
}

func TestAWorkerRefusesTwoHandlersOfOneKind(t *testing.T) {
	t.Parallel()
	h := open(t)
	w := worker.New(worker.Options{
		App: h.db.App, System: h.db.System, Redis: h.link, Log: h.log,
		Handlers: []queue.Handler{mark.HandleTx(markWork), mark.HandleTx(markWork)},
	})
	if err := w.Run(t.Context()); err == nil {
		t.Error("no error")
	}
}
