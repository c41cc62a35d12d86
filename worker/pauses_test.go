package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/worker"
)

func TestWhatIsPausedIsNeitherPushedNorClaimed(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, p := range [][2]string{{"lane", "default"}, {"kind", mark.Name()}, {"org", h.org.String()}} {
		h.exec("DELETE FROM job")
		h.add(adding(mark, none{}))
		before := h.only()
		h.exec("INSERT INTO job_pause (scope, name) VALUES ($1, $2)", p[0], p[1])
		h.add(adding(mark, none{}))
		if all := h.jobs(); all[1].WakeAt != nil {
			t.Errorf("%s paused: pushed at its commit", p[0])
		}
		if _, err := h.store().Claim(t.Context(), h.org, before.ID); !errors.Is(err, store.ErrMissed) {
			t.Errorf("%s paused: claimed: %v", p[0], err)
		}
		err := h.db.App.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
			_, err := h.store().Lock(t.Context(), tx, before.ID)
			return err
		})
		if !errors.Is(err, store.ErrMissed) {
			t.Errorf("%s paused: locked: %v", p[0], err)
		}
		if j := h.jobs()[0]; j.WakeAt == nil || !j.WakeAt.Equal(*before.WakeAt) {
			t.Errorf("%s paused: the pushed job lost its slot: %+v", p[0], j)
		}
		h.exec("DELETE FROM job_pause")
		if _, err := h.store().Claim(t.Context(), h.org, before.ID); err != nil {
			t.Errorf("%s resumed: %v", p[0], err)
		}
	}
}

func TestAsynqsOwnPauseFollowsTheLanes(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.work(worker.Options{}, mark.HandleTx(markWork))
	paused := func() bool {
		n, err := h.link.Exists(t.Context(), asynqx.Key("default", asynqx.Paused)).Result()
		return err == nil && n == 1
	}
	h.exec("INSERT INTO job_pause (scope, name) VALUES ('lane', 'default')")
	h.until(giveUpAfter, "asynq's queue is paused", paused)
	h.add(adding(mark, none{}))
	if err := h.link.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	h.until(giveUpAfter, "it is paused again after Redis lost everything", paused)
	h.exec("DELETE FROM job_pause")
	h.until(giveUpAfter, "it is resumed", func() bool { return !paused() })
	h.until(giveUpAfter, "the job ran", func() bool { return h.doneRows() == 1 })
}

func TestWhileALaneIsFullJobsWaitForTheFeeder(t *testing.T) {
	t.Parallel()
	h := open(t)
	if err := h.feeder().Full(t.Context(), queue.Default, time.Hour); err != nil {
		t.Fatal(err)
	}
	h.add(adding(mark, none{}))
	if j := h.only(); j.WakeAt != nil {
		t.Error("pushed into a full lane")
	}
	if refs, err := h.feeder().Round(t.Context(), queue.Default, 10); err != nil || len(refs) != 1 {
		t.Errorf("fed %v, %v", refs, err)
	}
	if err := h.feeder().Full(t.Context(), queue.Default, 0); err != nil {
		t.Fatal(err)
	}
	h.add(adding(mark, none{}))
	if j := h.jobs()[1]; j.WakeAt == nil {
		t.Error("not pushed though the lane has room")
	}
}

func TestAWorkerDeclaresAnOverfullLaneFull(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 100 {
		if err := h.link.RPush(t.Context(), asynqx.Key("bulk", asynqx.Pending), id.New().String()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	h.exec("INSERT INTO job_pause (scope, name) VALUES ('lane', 'bulk')") // no worker takes them
	h.work(worker.Options{Concurrency: 2})
	h.until(giveUpAfter, "the lane is full", func() bool {
		return h.count("SELECT count(*) FROM job_lane WHERE lane = 'bulk' AND full_until > now()") == 1
	})
}

func TestSlotsFollowTheWeights(t *testing.T) {
	t.Parallel()
	h := open(t)
	heavy, light := id.New(), id.New()
	h.exec("INSERT INTO job_weight (org_id, weight) VALUES ($1, 3)", heavy)
	for _, org := range []id.ID{heavy, light} {
		h.addFor(org, slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, 250)...)
	}
	held := func(org id.ID) int {
		return h.count("SELECT count(*) FROM job WHERE org_id = $1 AND wake_at IS NOT NULL", org)
	}
	if held(heavy) != 3*queue.MaxInFlight || held(light) != queue.MaxInFlight {
		t.Errorf("windows of %d and %d", held(heavy), held(light))
	}
	h.exec("UPDATE job SET wake_at = NULL")
	for range 10 { // in portions that no weight ratio divides
		if _, err := h.feeder().Round(t.Context(), queue.Default, 4); err != nil {
			t.Fatal(err)
		}
	}
	if held(heavy) != 30 || held(light) != 10 {
		t.Errorf("of 40 slots %d and %d, want 30 and 10", held(heavy), held(light))
	}
}

func TestTheSweepMendsWhatAsynqListsAsArchived(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}))
	h.push(h.only().ref())
	reg := prometheus.NewRegistry()
	stop := h.work(worker.Options{}, mark.HandleTx(func(context.Context, *postgres.Tx, *queue.Run[none]) error {
		return queue.Drop(errors.New("never"))
	}))
	h.until(giveUpAfter, "it is archived", func() bool { return len(h.archived()) == 1 })
	stop()
	stray := h.only()
	// A dead job that asynq does not list, and an archived task without a dead job.
	h.exec("UPDATE job SET id = $1, wake_at = NULL", id.New())
	h.work(worker.Options{Timing: worker.Timing{Sweep: 100 * time.Millisecond}, Metrics: worker.NewMetrics(reg)})
	h.until(giveUpAfter, "the stray is gone and the dead job listed", func() bool {
		tasks, err := h.inspect().ListArchivedTasks("default")
		return err == nil && len(tasks) == 1 && tasks[0].ID == h.only().ref().TaskID() &&
			tasks[0].ID != stray.ref().TaskID()
	})
	if n := value(t, reg, "funnelwork_jobs_archive_repairs_total"); n < 1 {
		t.Errorf("%v swept", n)
	}
}

func TestASweepTellsStraysFromTheDead(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}), adding(mark, none{}), adding(mark, none{}))
	h.exec("UPDATE job SET state = 'dead', wake_at = NULL")
	all := h.jobs()
	h.exec("UPDATE job SET state = 'ready' WHERE id = $1", all[0].ID)
	gone := id.New().String() + ":0"
	h.exec("UPDATE job SET dispatch = 2 WHERE id = $1", all[1].ID) // archived under its current and an older ID
	listed := []string{all[0].ref().TaskID(), all[1].ref().TaskID(), all[1].ID.String() + ":2", gone, "no job"}
	strays, unlisted, err := h.store().Sweep(t.Context(), queue.Default, listed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{listed[0], listed[1], gone, "no job"}, strays); diff != "" {
		t.Errorf("strays (-want +got):\n%s", diff)
	}
	if unlisted != 1 {
		t.Errorf("%d unlisted, want 1", unlisted)
	}
	if after := h.jobs(); after[1].WakeAt != nil || after[2].WakeAt == nil {
		t.Errorf("looked at: %v, %v", after[1].WakeAt, after[2].WakeAt)
	}
}

func TestTheBacklogIsCountedByState(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.add(adding(mark, none{}), adding(mark, none{}), adding(mark, none{}), adding(mark, none{}),
		adding(mark, none{}, queue.At(time.Now().Add(time.Hour))))
	all := h.jobs()
	h.exec("UPDATE job SET wake_at = NULL, run_at = now() - interval '1 hour' WHERE id = $1", all[0].ID)
	h.exec("UPDATE job SET owner = $2 WHERE id = $1", all[1].ID, id.New())
	h.exec("UPDATE job SET state = 'dead' WHERE id = $1", all[2].ID)
	h.exec("INSERT INTO job_pause (scope, name) VALUES ('kind', 'a'), ('lane', 'bulk')")
	h.tell(func(tx *postgres.Tx) { queue.OpenCircuit(tx, id.New(), time.Hour) })
	lanes, err := h.store().Backlogs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lanes {
		for _, s := range store.Stages() {
			want := 0
			if b.Lane == queue.Default {
				want = 1
			}
			if b.Counts[s] != want {
				t.Errorf("%s %s: %d, want %d", b.Lane, s, b.Counts[s], want)
			}
		}
		if b.Lane == queue.Default {
			if b.Oldest < time.Hour || b.Oldest > 2*time.Hour {
				t.Errorf("the oldest job has waited %s, want 1 h to 2 h", b.Oldest)
			}
			if n := b.Open(); n != 4 {
				t.Errorf("%d open jobs, want 4", n)
			}
		}
	}
	s, err := h.store().Stops(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	s.Clock, s.First = time.Time{}, time.Time{}
	if diff := cmp.Diff(store.Stops{Lanes: map[queue.Lane]bool{queue.Bulk: true}, Kinds: 1, Lines: 1}, s); diff != "" {
		t.Errorf("stops (-want +got):\n%s", diff)
	}
	top, err := h.store().Top(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Holder{{Org: h.org, Jobs: 1}}, top); diff != "" {
		t.Errorf("the orgs of most jobs (-want +got):\n%s", diff)
	}
}

func TestWhatItsLineKeepsBackIsNotLate(t *testing.T) {
	t.Parallel()
	h, held, free := open(t), id.New(), id.New()
	h.add(adding(mark, none{}, queue.ConcurrencyKey(held)), adding(mark, none{}, queue.ConcurrencyKey(free)))
	h.exec("UPDATE job SET wake_at = NULL, due = true, run_at = now() - CASE WHEN line = $1 THEN interval '9 "+
		"hours' ELSE interval '1 hour' END", held)
	oldest := func() time.Duration {
		lanes, err := h.store().Backlogs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lanes[slices.IndexFunc(lanes, func(b store.Backlog) bool { return b.Lane == queue.Default })].Oldest
	}
	if got := oldest(); got < 9*time.Hour {
		t.Errorf("before it is held: %s", got)
	}
	h.tell(func(tx *postgres.Tx) { queue.OpenCircuit(tx, held, time.Hour) })
	if got := oldest(); got < time.Hour || got > 2*time.Hour {
		t.Errorf("while it is held: %s", got)
	}
}
