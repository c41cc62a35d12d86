package feed_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/feed"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// gave moves jobs from waiting to held.
func (w *world) gave(refs []queue.Ref) {
	has := map[id.ID]bool{}
	for _, r := range refs {
		has[r.ID] = true
	}
	for key, jobs := range w.waiting {
		rest := slices.DeleteFunc(slices.Clone(jobs), func(c chance) bool { return has[c.id] })
		w.held[key] += len(jobs) - len(rest)
		w.waiting[key] = rest
	}
}

// end completes about half of the jobs with a slot.
func (w *world) end(t *testing.T, sql *pgx.Conn) {
	t.Helper()
	rows, err := sql.Query(t.Context(), `
		DELETE FROM job WHERE lane = 'default' AND state = 'ready' AND wake_at IS NOT NULL
		AND hashtext(id::text) % 2 = 0
		RETURNING org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid)`)
	if err != nil {
		t.Fatal(err)
	}
	var key [2]id.ID
	if _, err := pgx.ForEachRow(rows, []any{&key[0], &key[1]}, func() error {
		w.held[key]--
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// short returns the orgs with a key that waits for a run of one of the org's keys to end.
func (w *world) short() map[id.ID]bool {
	lines, out := map[id.ID]int{}, map[id.ID]bool{}
	for key, n := range w.held {
		if !key[1].IsZero() {
			lines[key[0]] += n
		}
	}
	for key, jobs := range w.waiting {
		if len(jobs) > 0 && !key[1].IsZero() && lines[key[0]] > 0 && !w.lines[key].held {
			out[key[0]] = true
		}
	}
	return out
}

func TestARefillGivesItsOrgsWhatANaiveEvaluatorOfTheirRowsGivesThem(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	total := 0
	for seed := range uint64(60) {
		var now time.Time
		if err := sql.QueryRow(t.Context(), "SELECT now()").Scan(&now); err != nil {
			t.Fatal(err)
		}
		w := roll(1000+seed, now)
		for key, l := range w.lines { // rates depend on this test's speed
			l.rate = 0
			w.lines[key] = l
		}
		w.write(t, sql)
		feeder := feed.New(store.New(db.App, db.System))
		refs, err := feeder.Round(t.Context(), queue.Default, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		w.gave(refs)
		var orgs []id.ID
		for org := range w.short() {
			if !feeder.Short(queue.Default, org) {
				t.Fatalf("seed %d: org %s waits for its own and is not short", seed, org)
			}
			if len(orgs) == 0 || !w.oneIn(3) {
				orgs = append(orgs, org)
			}
		}
		orgs = append(orgs, id.New())
		if refs, _, err := feeder.Refill(t.Context(), queue.Default, 100, slices.Clone(orgs)); err != nil ||
			len(refs) > 0 {
			t.Fatalf("seed %d: %d slots before anything ended, %v", seed, len(refs), err)
		}
		w.end(t, sql)
		limit := []int{3, 20, 600}[seed%3]
		refs, later, err := feeder.Refill(t.Context(), queue.Default, limit, slices.Clone(orgs))
		if err != nil || len(later) > 0 {
			t.Fatalf("seed %d: %v later, %v", seed, later, err)
		}
		total += len(refs)
		given := map[id.ID]bool{}
		for _, r := range refs {
			given[r.ID] = true
		}
		all := w.waiting
		w.waiting = map[[2]id.ID][]chance{}
		for key, jobs := range all {
			if slices.Contains(orgs, key[0]) {
				w.waiting[key] = jobs
			}
		}
		slots := 0
		for key, n := range w.expect(limit) {
			slots += n
			for i, job := range w.waiting[key] {
				if given[job.id] != (i < n) {
					t.Fatalf(
						"seed %d, limit %d, org %s, line %s: job %d of %d has a slot: %t; want the first %d to "+
							"have one", seed, limit, key[0], key[1], i, len(w.waiting[key]), given[job.id], n)
				}
			}
		}
		if len(refs) != slots || len(given) != slots {
			t.Fatalf("seed %d, limit %d: %d slots to %d jobs, want %d", seed, limit, len(refs), len(given), slots)
		}
	}
	if total < 200 {
		t.Errorf("only %d slots in all worlds: they try little", total)
	}
}

func TestNobodyIsShortWhereARoundCouldNotGiveAllThatItMight(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	org, other, line := id.New(), id.New(), id.New()
	if _, err := sql.Exec(t.Context(), `
		INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, due, line)
		SELECT o, gen_random_uuid(), 'test.a', '{}', 'default', 3, now() - interval '1 s', true, $3
		FROM unnest(ARRAY[$1, $2]::uuid[]) AS o, generate_series(1, 40)`, org, other, line); err != nil {
		t.Fatal(err)
	}
	l := feed.New(store.New(db.App, db.System))
	feed := func(limit, want int, short bool) {
		t.Helper()
		refs, err := l.Round(t.Context(), queue.Default, limit)
		if err != nil {
			t.Error(err)
		}
		if len(refs) != want {
			t.Errorf("%d slots, want %d", len(refs), want)
		}
		for name, i := range map[string]id.ID{"first": org, "second": other} {
			if got := l.Short(queue.Default, i); got != short {
				t.Errorf("the %s org is short: %t, want %t", name, got, short)
			}
		}
	}
	feed(10, 10, false) // more wait for a slot of the lane
	feed(100, 10, true) // each key has ten slots
	if _, err := sql.Exec(t.Context(), "DELETE FROM job WHERE wake_at IS NOT NULL"); err != nil {
		t.Fatal(err)
	}
	// While another feeder holds the lock no slot is assigned, and no org is forgotten.
	beside, err := sql.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beside.Exec(t.Context(),
		"SELECT pg_advisory_xact_lock(hashtext('funnelwork.feed'), hashtext('default'))"); err != nil {
		t.Fatal(err)
	}
	refs, later, err := l.Refill(t.Context(), queue.Default, 100, []id.ID{org, other})
	if err != nil {
		t.Error(err)
	}
	if len(refs) != 0 || len(later) != 2 {
		t.Errorf("%d slots, later %v; want no slot and 2 orgs", len(refs), later)
	}
	feed(100, 0, true)
	if err := beside.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if refs, _, err := l.Refill(t.Context(), queue.Default, 100, []id.ID{org, other}); err != nil || len(refs) != 20 {
		t.Errorf("%d slots, %v", len(refs), err)
	}
	if _, err := sql.Exec(t.Context(), "DELETE FROM job WHERE wake_at IS NOT NULL OR org_id = $1", other); err != nil {
		t.Fatal(err)
	}
	if refs, _, err = l.Refill(t.Context(), queue.Default, 100, []id.ID{org, other}); err != nil || len(refs) != 10 {
		t.Errorf("%d slots, %v; want 10", len(refs), err)
	}
	if l.Short(queue.Default, other) {
		t.Error("an org without jobs is short")
	}
}

func TestAPausedLaneIsRefilledForNobodyAndAsksForNothing(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	org, line := id.New(), id.New()
	if _, err := sql.Exec(t.Context(), `
		INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, due, line)
		SELECT $1, gen_random_uuid(), 'test.a', '{}', 'default', 3, now() - interval '1 s', true, $2
		FROM generate_series(1, 40)`, org, line); err != nil {
		t.Fatal(err)
	}
	l := feed.New(store.New(db.App, db.System))
	if refs, err := l.Round(t.Context(), queue.Default, 100); err != nil || len(refs) != queue.Slots {
		t.Fatalf("%d slots, %v", len(refs), err)
	}
	if _, err := sql.Exec(t.Context(), "DELETE FROM job WHERE wake_at IS NOT NULL"); err != nil {
		t.Fatal(err)
	}
	if _, err := sql.Exec(t.Context(), "INSERT INTO job_pause (scope, name) VALUES ('lane', 'default')"); err != nil {
		t.Fatal(err)
	}
	refs, later, err := l.Refill(t.Context(), queue.Default, 100, []id.ID{org})
	if err != nil {
		t.Error(err)
	}
	if len(refs)+len(later) > 0 {
		t.Errorf("%d slots, later %v; want none", len(refs), later)
	}
	if l.Short(queue.Default, org) {
		t.Error("the org of a paused lane is short")
	}
}
