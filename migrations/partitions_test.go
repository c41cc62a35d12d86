package migrations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

const insertEvent = `INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
	SELECT gen_random_uuid(), uuidv7_at(now() + $1::interval), 1, 'contact.created', 'system', '{}', now()`

func where(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, _ := conn.Query(t.Context(), `
		SELECT CASE WHEN tableoid = 'event_default'::regclass THEN 'default' ELSE 'its day' END FROM event ORDER BY id`)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestARowWithoutAPartitionIsKeptAndMovesWhenItsDayIsMade(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	for _, at := range []string{"0", "10 days", "11 days"} {
		exec(t, conn, insertEvent, at)
	}
	if diff := cmp.Diff([]string{"its day", "default", "default"}, where(t, conn)); diff != "" {
		t.Error(diff)
	}
	var made int
	if err := conn.QueryRow(t.Context(), "SELECT make_partitions(10)").Scan(&made); err != nil || made != 3*3 {
		t.Errorf("%d made, %v; want 3 days of 3 tables", made, err)
	}
	if diff := cmp.Diff([]string{"its day", "its day", "default"}, where(t, conn)); diff != "" {
		t.Error(diff)
	}
	if err := conn.QueryRow(t.Context(), "SELECT make_partitions(10)").Scan(&made); err != nil || made != 0 {
		t.Errorf("again: %d made, %v", made, err)
	}
	// A partition that was attached has the parent's keys and indexes.
	var missing int
	if err := conn.QueryRow(t.Context(), `
		SELECT count(*) FROM pg_class p JOIN pg_index pi ON pi.indrelid = p.oid JOIN pg_inherits i ON i.inhparent = p.oid
		WHERE p.relname IN ('event', 'webhook_delivery', 'webhook_attempt')
		  AND NOT EXISTS (SELECT FROM pg_inherits ii JOIN pg_index ci ON ci.indexrelid = ii.inhrelid WHERE ii.inhparent = pi.indexrelid AND ci.indrelid = i.inhrelid)`).Scan(&missing); err != nil || missing != 0 {
		t.Errorf("%d indexes are missing in partitions, %v", missing, err)
	}
}

func TestOldDaysAndOldStraysAreDroppedAndTheRestStays(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	for _, at := range []string{"-32 days", "-30 days", "0"} { // the first two have no partition
		exec(t, conn, insertEvent, at)
	}
	exec(t, conn, `CREATE TABLE event_20200101 PARTITION OF event FOR VALUES FROM (uuid_floor('2020-01-01Z')) TO (uuid_floor('2020-01-02Z'))`)
	var dropped int
	if err := conn.QueryRow(t.Context(), "SELECT drop_partitions()").Scan(&dropped); err != nil || dropped != 1 {
		t.Errorf("%d dropped, %v", dropped, err)
	}
	if diff := cmp.Diff([]string{"default", "its day"}, where(t, conn)); diff != "" {
		t.Error(diff)
	}
}
