package chaos_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// Thousands of dead jobs are redriven by a filter at a rate, and the redriving worker is killed repeatedly: half of the
// times in the middle of a step that has moved jobs and not committed.
func TestARedriveWhoseWorkersAreKilledRunsEachDeadJobOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	// the twentieth kill would make the redrive's own job dead
	n, rate, kills := sized(2100, 20_000), sized(600, 400), sized(3, 19)
	h.bury("chaos.mark", "it was broken at ", n)
	h.bury("chaos.mark", "something else at ", 100)
	h.bury("chaos.beat", "it was broken at ", 100)
	api := h.api("api")
	audit, err := pgx.Connect(t.Context(), h.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = audit.Close(t.Context()) })
	asked := h.post(202, api.ops+"/jobs/redrive", "",
		fmt.Sprintf(`{"filter":{"kind":"chaos.mark","error":"WAS broken"},"rate":%d,"reason":"mended"}`, rate))
	if asked["total"] != float64(n) {
		t.Errorf("%v jobs fit the filter, want %d", asked["total"], n)
	}
	done := func() int { return h.count("SELECT done FROM job_redrive") }
	over := func() bool { return h.count("SELECT count(*) FROM job_redrive WHERE ended_at IS NOT NULL") == 1 }
	var w *process
	work := func() {
		if w == nil {
			w = h.worker("worker", 20)
		} else {
			w.start()
		}
	}
	for k := range kills {
		if k%2 == 0 {
			h.duringAStep(audit, work, func() { w.kill(syscall.SIGKILL) })
		} else {
			before := done()
			work()
			h.until(giveUpAfter, "it goes on", func() bool { return done() > before })
			w.kill(syscall.SIGKILL)
		}
		if over() {
			t.Fatalf("it is over after %d kills: that shows too little", k+1)
		}
		if !*long { // another test shows that and when a lease expires
			h.count("WITH lapsed AS (UPDATE job SET wake_at = now(), lease_until = now() WHERE kind = " +
				"'platform.redrive' AND owner IS NOT NULL RETURNING 1) SELECT count(*) FROM lapsed")
		}
	}
	work()
	h.until(sized(time.Minute, 5*time.Minute), "it is over", over)
	h.until(giveUpAfter, "all jobs done", func() bool { return h.open() == 0 })

	h.figure("kills of its worker", "", "%d, of them %d in the middle of a step", kills, (kills+1)/2)
	h.once("chaos.mark", n)
	if odd := h.count(
		"SELECT count(*) FROM effect WHERE kind LIKE 'chaos.%' AND (attempt <> 1 OR kind <> 'chaos.mark')"); odd > 0 {
		t.Errorf("%d effects are not of a first attempt of a redriven job", odd)
	}
	if left := h.count("SELECT count(*) FROM job_death"); left != 200 || h.dead() != 200 {
		t.Errorf("%d jobs are dead, %d in the search; want the 200 that did not fit", h.dead(), left)
	}
	moved, cancelled := done(), h.count("SELECT count(*) FROM job_redrive WHERE cancelled")
	if moved != n || cancelled != 0 {
		t.Errorf("it says that it moved %d (cancelled: %d), want %d", moved, cancelled, n)
	}
	acts := h.count(
		"SELECT coalesce(sum(count), 0) FROM job_act WHERE act = 'redrive' AND actor = 'ops' AND reason = 'mended'")
	named := h.count("SELECT count(DISTINCT job) FROM job_act, unnest(jobs) AS job WHERE act = 'redrive' AND job " +
		"IN (SELECT job FROM effect)")
	begun := h.count("SELECT sum(count) FROM job_act WHERE act = 'redrive.start'")
	h.figure("jobs in the audit, of them named", fmt.Sprint(n), "%d, %d", acts, named)
	type facts struct{ Jobs, Named, Started int }
	if diff := cmp.Diff(facts{n, n, n}, facts{acts, named, begun}); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
	took := h.count("SELECT (extract(epoch FROM ended_at - created_at) * 1000)::int FROM job_redrive")
	h.figure("its rate, kills included", fmt.Sprintf("<= %d/s", rate), "%.0f/s", float64(n)/float64(took)*1000)
	if least := (n - 1) * 1000 / rate; took < least {
		t.Errorf("%d at %d per second took %d ms, want %d at least", n, rate, took, least)
	}
}

// bury inserts n dead jobs of 50 orgs.
func (h *house) bury(kind, said string, n int) {
	h.t.Helper()
	h.count(`WITH dead AS (
	INSERT INTO job (org_id, id, kind, args, lane, max_attempts, attempt, state, last_error)
	SELECT md5((g % 50)::text)::uuid, gen_random_uuid(), $1, '{"ms":1}', 'default', 3, 3, 'dead', $2 || g
	FROM generate_series(1, $3::int) AS g
	RETURNING 1) SELECT count(*) FROM dead`, kind, said, n)
}

// duringAStep calls begin and, when a redrive's step has moved its jobs and waits to write its audit entry, calls do.
func (h *house) duringAStep(audit *pgx.Conn, begin, do func()) {
	h.t.Helper()
	ctx := h.t.Context()
	tx, err := audit.Begin(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "LOCK TABLE job_act IN EXCLUSIVE MODE"); err != nil {
		h.t.Fatal(err)
	}
	begin()
	h.until(giveUpAfter, "a step waits for the audit", func() bool {
		return h.count("SELECT count(*) FROM pg_locks WHERE relation = 'job_act'::regclass AND NOT granted") > 0
	})
	do()
}
