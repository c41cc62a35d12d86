package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// stampedAhead inserts a row of each kind as it is after the clock was set back by an hour.
const stampedAhead = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, created_at, run_at, wake_at, owner, lease_until, due)
SELECT $1, gen_random_uuid(), kind, '{}', 'default', 3, now() + made, now() + run, now() + wake, owner,
	now() + lease, due
FROM (VALUES
	('pushed',       interval '1h', interval '1h', interval '1h 3s',  NULL::uuid,        NULL::interval,   false),
	('owned',        interval '-1s', interval '-1s', interval '1h 20s', gen_random_uuid(), interval '1h 20s', false),
	('planned',      interval '1h', interval '25h', NULL,             NULL,              NULL,             false),
	('planned soon', interval '-1h', interval '10m', NULL,            NULL,              NULL,             false),
	('pushed now',   interval '-1s', interval '-1s', interval '3s',   NULL,              NULL,             false),
	('running now',  interval '-1s', interval '-1s', interval '20s',  gen_random_uuid(), interval '20s',   false)
) AS j (kind, made, run, wake, owner, lease, due)`

// secondsToNextLook returns when Postgres looks at each job again, or starts it, in seconds rounded to ten.
func secondsToNextLook(t *testing.T, sql *pgx.Conn) map[string]int {
	t.Helper()
	rows, err := sql.Query(t.Context(), `SELECT kind, round(extract(epoch FROM coalesce(
		CASE WHEN owner IS NULL THEN wake_at ELSE lease_until END, run_at) - now()) / 10)::int * 10 FROM job`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	var (
		kind    string
		seconds int
	)
	if _, err := pgx.ForEachRow(rows, []any{&kind, &seconds}, func() error {
		out[kind] = seconds
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJobsThatAClockAheadHasStampedAreDueForACheckAndPlannedJobsAreNot(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql, s := testkit.Pgx(t, db.URL), store.New(db.App, db.System)
	isAhead := func() bool {
		t.Helper()
		stops, err := s.Stops(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return stops.Ahead
	}
	if isAhead() {
		t.Error("ahead without jobs")
	}
	if _, err := sql.Exec(t.Context(), stampedAhead, id.New()); err != nil {
		t.Fatal(err)
	}
	if !isAhead() {
		t.Error("not ahead")
	}
	if n, err := s.WakeAhead(t.Context(), 10); err != nil || n != 2 {
		t.Errorf("%d woken, %v", n, err)
	}
	want := map[string]int{
		"pushed": 0, "owned": 20, "planned": 25 * 3600, "planned soon": 600, "pushed now": 0, "running now": 20,
	}
	if diff := cmp.Diff(want, secondsToNextLook(t, sql)); diff != "" {
		t.Errorf("seconds until the next look (-want +got):\n%s", diff)
	}
	if isAhead() {
		t.Error("ahead afterwards")
	}
}

// delayed is jobs after the clock was set back by an hour: a retry and a snooze by the clock ahead, delays after it was
// set back and before it was ahead, and one that is planned.
const delayed = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, attempt, run_at, delayed_at)
SELECT $1, gen_random_uuid(), kind, '{}', 'default', 3, 1, now() + run, now() + made
FROM (VALUES
	('retry ahead',  interval '1h 10m', interval '1h'),
	('snooze ahead', interval '25h',    interval '1h'),
	('just now',     interval '1h',     interval '-1s'),
	('long ago',     interval '2h',     interval '-10m'),
	('planned',      interval '24h',    NULL)
) AS j (kind, run, made)`

func TestDelaysThatAClockAheadHasSetBeginAnewAndPlannedJobsKeepTheirTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setBack time.Duration
		ended   int64
		justNow int
	}{
		"known since when":     {5 * time.Second, 3, 0},
		"not known since when": {0, 2, 3600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testkit.DB(t)
			sql, s := testkit.Pgx(t, db.URL), store.New(db.App, db.System)
			if _, err := sql.Exec(t.Context(), delayed, id.New()); err != nil {
				t.Fatal(err)
			}
			if ended, err := s.EndDelays(t.Context(), c.setBack); err != nil || ended["job"] != c.ended {
				t.Errorf("ended %v, %v", ended, err)
			}
			want := map[string]int{
				"retry ahead": 600, "snooze ahead": 24 * 3600, "just now": c.justNow, "long ago": 7200,
				"planned": 24 * 3600,
			}
			if diff := cmp.Diff(want, secondsToNextLook(t, sql)); diff != "" {
				t.Errorf("seconds until the next run (-want +got):\n%s", diff)
			}
			if ended, err := s.EndDelays(t.Context(), c.setBack); err != nil || len(ended) > 0 {
				t.Errorf("ended again %v, %v", ended, err)
			}
		})
	}
}

func TestCircuitsAndFullLanesOfAClockAheadEndAndOthersStay(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql, s := testkit.Pgx(t, db.URL), store.New(db.App, db.System)
	if _, err := sql.Exec(t.Context(), `
		INSERT INTO job_line (org_id, id, held_until, held_at, probing) VALUES
			(gen_random_uuid(), gen_random_uuid(), now() + interval '61 minutes', now() + interval '1 hour', true),
			(gen_random_uuid(), gen_random_uuid(), now() + interval '1 day', now() - interval '1 minute', true);
		INSERT INTO job_lane (lane, full_until) VALUES ('bulk', now() + interval '1 hour'),
			('default', now() + interval '1 second')`); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"job_line": 1, "job_lane": 1}
	if ended, err := s.EndDelays(t.Context(), 0); err != nil || !cmp.Equal(ended, want) {
		t.Errorf("ended %v, %v", ended, err)
	}
	if stops, err := s.Stops(t.Context(), time.Time{}); err != nil || stops.Lines != 1 {
		t.Errorf("%d circuits are open, %v", stops.Lines, err)
	}
}
