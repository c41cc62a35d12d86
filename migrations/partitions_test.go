package migrations_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
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

// dropAll drops the expired partitions and returns how many.
func dropAll(t *testing.T, conn *pgx.Conn) (total int) {
	t.Helper()
	for dropped := 1; dropped > 0; total += dropped {
		if err := conn.QueryRow(t.Context(), "SELECT drop_partitions()").Scan(&dropped); err != nil || dropped > 1 {
			t.Fatalf("%d dropped at once, %v", dropped, err)
		}
	}
	return total
}

func TestARowWithoutAPartitionIsKeptAndMovesWhenItsDayIsMade(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	exec(t, conn, "SELECT make_partitions(7)") // midnight may have passed
	for _, at := range []string{"0", "10 days", "11 days"} {
		exec(t, conn, insertEvent, at)
	}
	if diff := cmp.Diff([]string{"its day", "default", "default"}, where(t, conn)); diff != "" {
		t.Error(diff)
	}
	var made int
	if err := conn.QueryRow(t.Context(), "SELECT make_partitions(10)").Scan(&made); err != nil || made != 3*4 {
		t.Errorf("%d made, %v; want 3 days of 4 tables", made, err)
	}
	if diff := cmp.Diff([]string{"its day", "its day", "default"}, where(t, conn)); diff != "" {
		t.Error(diff)
	}
	if err := conn.QueryRow(t.Context(), "SELECT make_partitions(10)").Scan(&made); err != nil || made != 0 {
		t.Errorf("again: %d made, %v", made, err)
	}
	// An attached partition has the parent's keys and indexes.
	var missing int
	if err := conn.QueryRow(t.Context(), `
		SELECT count(*) FROM pg_class p JOIN pg_index pi ON pi.indrelid = p.oid
		JOIN pg_inherits i ON i.inhparent = p.oid
		WHERE p.relname IN ('event', 'webhook_delivery', 'webhook_attempt')
		  AND NOT EXISTS (SELECT FROM pg_inherits ii JOIN pg_index ci ON ci.indexrelid = ii.inhrelid
		WHERE ii.inhparent = pi.indexrelid AND ci.indrelid = i.inhrelid)`).Scan(&missing); err != nil || missing != 0 {
		t.Errorf("%d indexes are missing in partitions, %v", missing, err)
	}
}

func TestOldDaysAndOldStraysAreDroppedAndTheRestStays(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	for _, at := range []string{"-32 days", "-30 days", "0"} { // the first two have no partition
		exec(t, conn, insertEvent, at)
	}
	exec(t, conn,
		`CREATE TABLE event_20200101 PARTITION OF event FOR VALUES
			FROM (uuid_floor('2020-01-01Z')) TO (uuid_floor('2020-01-02Z'))`)
	if dropped := dropAll(t, conn); dropped != 1 {
		t.Errorf("%d dropped", dropped)
	}
	if diff := cmp.Diff([]string{"default", "its day"}, where(t, conn)); diff != "" {
		t.Error(diff)
	}
}

func TestTheLogOfWebhooksLosesWholeDaysAndOnlyThoseThatHaveHadTheirTime(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	for _, table := range []string{"webhook_delivery", "webhook_attempt"} {
		for _, back := range []int{40, 32, 31, 30, 2} { // yesterday's and today's exist
			exec(t, conn,
				`DO $$ BEGIN EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF `+table+
					` FOR VALUES FROM (%L) TO (%L)', '`+table+
					`_' || to_char(d, 'YYYYMMDD'), uuid_floor(d), uuid_floor(d + interval '1 day'))
				FROM (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(days => `+
					strconv.Itoa(back)+`) AS d) AS day; END $$`)
		}
	}
	for _, back := range []int{40, 32, 31, 30, 2, 1, 0} {
		exec(t, conn,
			`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, attempts, created_at,
				updated_at)
			SELECT gen_random_uuid(), uuidv7_at(date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' -
			make_interval(days => $1) + interval '12 hours'), gen_random_uuid(), gen_random_uuid(), 'x', $1,
			now(), now() FROM generate_series(1, 100)`, back)
		exec(t, conn,
			`INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, started_at)
			SELECT org_id, id, id, $1, 'event', '{}', now() FROM webhook_delivery WHERE attempts = $1`, back)
	}
	if dropped := dropAll(t, conn); dropped != 4 {
		t.Errorf("%d dropped; want two days of two tables", dropped)
	}
	for what, sql := range map[string]string{
		"deliveries": "SELECT string_agg(attempts || ':' || n, ' ' ORDER BY attempts) FROM (SELECT attempts, " +
			"count(*) AS n FROM webhook_delivery GROUP BY 1) d",
		"attempts": "SELECT string_agg(number || ':' || n, ' ' ORDER BY number) FROM (SELECT number, count(*) AS n " +
			"FROM webhook_attempt GROUP BY 1) a",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), sql).Scan(&got); err != nil || got != "0:100 1:100 2:100 30:100 31:100" {
			t.Errorf("%s by age: %s, %v", what, got, err)
		}
	}
	var left int
	if err := conn.QueryRow(t.Context(),
		`SELECT count(*) FROM pg_class WHERE relname ~ '^webhook_(delivery|attempt)_\d{8}$'
			AND right(relname, 8)::date < (now() AT TIME ZONE 'UTC')::date - 31 AND relkind = 'r'`).
		Scan(&left); err != nil || left != 0 {
		t.Errorf("%d old partitions are left, %v", left, err)
	}
}

// In one transaction no page can be pruned meanwhile, so that some rows find no room on theirs.
func TestTheFirstSuccessOfADeliveryUpdatesItsRowInPlace(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	exec(t, conn, `INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
		SELECT gen_random_uuid(), uuidv7_at(now()), gen_random_uuid(), gen_random_uuid(), 'contact.created',
				now(), now()
		FROM generate_series(1, 1000)`)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `UPDATE webhook_delivery SET status = 'delivered', attempts = 1,
			last_status = 200,
		updated_at = now(), attempt_id = id, request_headers = to_json(repeat('x', 300)), answer = ''`); err != nil {
		t.Fatal(err)
	}
	var updated, inPlace int
	if err := tx.QueryRow(t.Context(), `SELECT sum(n_tup_upd), sum(n_tup_hot_upd) FROM pg_stat_xact_user_tables
		WHERE relname LIKE 'webhook_delivery_%'`).Scan(&updated, &inPlace); err != nil {
		t.Fatal(err)
	}
	if updated != 1000 || inPlace < 700 {
		t.Errorf("%d of %d updates are in place", inPlace, updated)
	}
}

// With an archive, drop_unarchived and detach_days share the days; without one, drop_partitions drops all.
func TestADayOfTheRequestLogIsDroppedAndNeverArchived(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	for _, table := range []string{"event", "request_log"} {
		exec(t, conn, `CREATE TABLE `+table+`_20200101 PARTITION OF `+table+` FOR VALUES
			FROM (uuid_floor('2020-01-01Z')) TO (uuid_floor('2020-01-02Z'))`)
	}
	exec(t, conn, `INSERT INTO request_log (org_id, id, request_id, method, route, status, code, took_us)
		SELECT gen_random_uuid(), uuidv7_at(at), 'x', 'GET', '', 200, '', 1
		FROM unnest(ARRAY[now() - interval '9 days', now(), '2020-01-01 12:00Z']) AS at`)
	var dropped, detached int
	if err := conn.QueryRow(t.Context(), "SELECT drop_unarchived()").Scan(&dropped); err != nil || dropped != 1 {
		t.Errorf("%d dropped, %v; want the day of the request log", dropped, err)
	}
	if err := conn.QueryRow(t.Context(), "SELECT detach_days()").Scan(&detached); err != nil || detached != 1 {
		t.Errorf("%d detached, %v; want the day of events", detached, err)
	}
	var left, archived string
	if err := conn.QueryRow(t.Context(), `SELECT count(*)::text, (SELECT string_agg(name, ' ') FROM archive_day)
		FROM request_log`).Scan(&left, &archived); err != nil || left != "1" || archived != "event_20200101" {
		t.Errorf("%s requests are left and %q is archived, %v; want 1 and event_20200101", left, archived, err)
	}
}

func TestADayThatIsReadIsLeftAtOnce(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn, reader := connect(t, db.URL), connect(t, db.URL)
	exec(t, conn, `CREATE TABLE event_20200101 PARTITION OF event FOR VALUES
		FROM (uuid_floor('2020-01-01Z')) TO (uuid_floor('2020-01-02Z'))`)
	exec(t, reader, "BEGIN")
	exec(t, reader, "SELECT FROM event")
	exec(t, conn, "SET statement_timeout = '30s'") // else a call that waits would wait for the reader's end
	for _, call := range []string{"SELECT drop_partitions()", "SELECT detach_days()"} {
		if _, err := conn.Exec(t.Context(), call); postgres.Code(err) != "55P03" {
			t.Errorf("%s: %v, want lock_not_available", call, err)
		}
	}
	exec(t, reader, "ROLLBACK")
	if dropped := dropAll(t, conn); dropped != 1 {
		t.Errorf("%d days dropped after the read, want 1", dropped)
	}
}

// A table whose statistics say that each org has one row is read by any index that starts with the org.
func TestEveryTableOfOrgsExpectsManyRowsOfAnOrg(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.DB(t).URL)
	exec(t, conn, "SELECT make_partitions(12)")
	rows, _ := conn.Query(t.Context(), `
		SELECT c.relname
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
		AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indnkeyatts > 1)
		AND NOT coalesce(a.attoptions @> '{n_distinct=100}', false) ORDER BY 1`)
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(missing) > 0 {
		t.Errorf("%v, %v: a migration calls expect_rows_of_orgs for a new table", missing, err)
	}
}
