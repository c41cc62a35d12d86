package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// endedJobsSQL adds jobs that held slots in the last ten minutes.
const endedJobsSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, line, wake_at)
SELECT $1, uuidv7_at(now()), 'test.a', '{}', 'default', 3, now() - g * interval '30 ms',
	CASE WHEN g % 2 = 0 THEN $2::uuid END, now() - g * interval '30 ms'
FROM generate_series(1, 20000) AS g`

func TestAddsAndScansReadFewRowsOfEndedJobsThatAnOldSnapshotKeeps(t *testing.T) {
	t.Parallel()
	db, org, line := testkit.DB(t), id.New(), id.New()
	sql, s := testkit.Pgx(t, db.URL), store.New(db.App, db.System)
	analyst, err := testkit.Pgx(t, db.URL).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	exec := func(sql pgxExec, text string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(sql, endedJobsSQL, org, line)
	exec(analyst, `SELECT count(*) FROM org`)
	exec(sql, `DELETE FROM job`)
	stops, err := s.Stops(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	before := stops.Clock.Add(-time.Second)
	costs := func(floor string) {
		t.Helper()
		for what, key := range map[string]string{"without": "NULL", "with": "'" + line.String() + "'"} {
			add := fmt.Sprintf("SELECT job_wake('%s', 'default', 'test.a', %s, now())", org, key)
			n, plan := db.Buffers(t, org, "", add)
			if most := 60; (n > most) == (floor != "") {
				t.Errorf("%s a key, floor %q: %d buffers\n%s", what, floor, n, plan)
			}
		}
	}
	costs("")
	if err := s.PublishFloor(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if stops, err = s.Stops(t.Context(), before); err != nil || !stops.Floor.Equal(before) || !stops.First.IsZero() {
		t.Errorf("%+v, %v", stops, err)
	}
	costs(before.String())
}

// A floor that a clock ahead has made would hide all slots until the clock has come that far.
func TestALowerFloorReplacesAHigherOne(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	s := store.New(db.App, db.System)
	now := time.Now().Truncate(time.Microsecond)
	for _, at := range []time.Time{now.Add(time.Hour), now, now.Add(time.Second)} {
		if err := s.PublishFloor(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if stops, err := s.Stops(t.Context(), at); err != nil || !stops.Floor.Equal(at) {
			t.Errorf("the floor is %v, want %v; %v", stops.Floor, at, err)
		}
	}
}

func TestJobsFromTheFloorOnCountAsSlots(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	sql, s := testkit.Pgx(t, db.URL), store.New(db.App, db.System)
	if err := s.PublishFloor(t.Context(), time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	const add = `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
		VALUES ($1, $2, 'test.a', '{}', 'default', 3, job_wake($1, 'default', 'test.a', NULL, now()))
		RETURNING wake_at IS NOT NULL`
	slots := 0
	for range 60 {
		var slot bool
		if err := sql.QueryRow(t.Context(), add, org, id.New()).Scan(&slot); err != nil {
			t.Fatal(err)
		}
		if slot {
			slots++
		}
	}
	if slots != 50 {
		t.Errorf("%d slots are taken, want 50", slots)
	}
}

// pgxExec is a connection or a transaction.
type pgxExec interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}
