package aged_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// empty are the tables without rows, with the reason.
var empty = map[string]string{
	"archive_day":        "there is no archive",
	"archive_part":       "there is no archive",
	"billing_price":      "the prices come from the payment processor",
	"billing_sync":       "nothing was read from the payment processor",
	"event_horizon_row":  "no worker has published a horizon",
	"job_act":            "no operator has acted",
	"job_floor":          "no worker has published a floor",
	"job_lane":           "no lane is full",
	"job_pause":          "nothing is paused",
	"job_redrive":        "no operator has acted",
	"outreach_uncounted": "all sequences and broadcasts are counted",
	"process":            "no process runs",
	"request_log":        "requests are written by the process that serves them",
	"sandbox_hook":       "the sandboxes have nothing of a year",
	"sandbox_oauth":      "the sandboxes have nothing of a year",
	"sandbox_stripe":     "the sandboxes have nothing of a year",
	"sealing_key":        "no process has registered the keyset",
	"signing_key":        "the first process makes it",
	"social_budget":      "no platform was asked",
	"social_hold":        "no platform is held",
	"social_notice":      "no platform has sent a notice",
	"tick":               "no scheduler has run",
	"word_index_page":    "contact.index builds it: no large org has an index",
}

func TestAnAgedDatabaseHasRowsInEveryTable(t *testing.T) {
	t.Parallel()
	sql := testkit.Pgx(t, aged.Read(t, aged.Test, aged.Grew).URL)
	rows, _ := sql.Query(t.Context(), `SELECT relname::text FROM pg_class
		WHERE relkind IN ('r', 'p') AND NOT relispartition
		AND relnamespace = 'public'::regnamespace AND relname <> 'goose_db_version' ORDER BY 1`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, table := range tables {
		var n int
		if err := sql.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		total += n
		if _, ok := empty[table]; ok == (n > 0) {
			t.Errorf("%s has %d rows; in the list of empty tables: %t", table, n, ok)
		}
	}
	for table := range empty {
		if !slices.Contains(tables, table) {
			t.Errorf("there is no table %s", table)
		}
	}
	if total < 500_000 || total > 1_000_000 {
		t.Errorf("%d rows, want about 600,000", total)
	}
}

// estimate returns how many contacts of the org the planner expects.
func estimate(t *testing.T, d *aged.Database, o aged.Org) float64 {
	t.Helper()
	var raw string
	if err := d.App.ReadTx(t.Context(), o.ID, func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) SELECT FROM contact WHERE org_id = '"+o.ID.String()+"'",
			nil, &raw)
	}); err != nil {
		t.Fatal(err)
	}
	var plan []struct{ Plan aged.Node }
	if err := json.Unmarshal([]byte(raw), &plan); err != nil {
		t.Fatal(err)
	}
	return plan[0].Plan.Planned
}

func TestThePlannerDoesNotKnowThatTheGrownOrgHasGrown(t *testing.T) {
	t.Parallel()
	d := aged.Read(t, aged.Test, aged.Grew)
	grown, huge := d.World.Org(aged.Grown), d.World.Org(aged.Huge)
	if n := estimate(t, d, grown); n > float64(grown.Contacts)/10 {
		t.Errorf("%v contacts of the grown org are expected, of %d", n, grown.Contacts)
	}
	if n := estimate(t, d, huge); n < float64(huge.Contacts)/2 {
		t.Errorf("%v contacts of the huge org are expected, of %d", n, huge.Contacts)
	}
}

func TestTodaysPartitionsAreNotAnalyzed(t *testing.T) {
	t.Parallel()
	sql := testkit.Pgx(t, aged.Read(t, aged.Test, aged.Grew).URL)
	for _, table := range []string{"event", "webhook_delivery", "webhook_attempt"} {
		var today, before bool
		var rows int
		count := `SELECT count(*) FROM ` + table + `_` // and the day
		if err := sql.QueryRow(t.Context(), `SELECT
			EXISTS (SELECT FROM pg_stats WHERE tablename = $1 || to_char(now() AT TIME ZONE 'UTC', '_YYYYMMDD')),
			EXISTS (SELECT FROM pg_stats WHERE tablename = $1 || to_char(now() AT TIME ZONE 'UTC' - interval '1 day',
				'_YYYYMMDD'))`, table).Scan(&today, &before); err != nil {
			t.Fatal(err)
		}
		var day string
		if err := sql.QueryRow(t.Context(), `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')`).
			Scan(&day); err != nil {
			t.Fatal(err)
		}
		if err := sql.QueryRow(t.Context(), count+day).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if today || !before || rows == 0 {
			t.Errorf("%s: today's partition is analyzed: %t, yesterday's: %t; rows of today: %d", table, today, before,
				rows)
		}
	}
}

func TestACopyOfAnAgedDatabaseKeepsItsStatisticsAndToldNobody(t *testing.T) {
	t.Parallel()
	shared, mine := aged.Read(t, aged.Test, aged.Grew), aged.Write(t, aged.Test, aged.Grew)
	org := mine.World.Org(aged.Huge)
	if a, b := estimate(t, shared, org), estimate(t, mine, org); a != b {
		t.Errorf("the planner expects %v contacts in the shared database, %v in the copy", a, b)
	}
	if _, err := testkit.Pgx(t, mine.URL).Exec(t.Context(), `DELETE FROM note`); err != nil {
		t.Fatal(err)
	}
	var left bool
	err := testkit.Pgx(t, shared.URL).QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM note)`).Scan(&left)
	if err != nil || !left {
		t.Errorf("a change of the copy is in the shared database: %v", err)
	}
}

func TestEachClassHasAnOrgOfItsSize(t *testing.T) {
	t.Parallel()
	w := aged.Read(t, aged.Test, aged.Grew).World
	sizes := fmt.Sprint(w.Org(aged.Huge).Contacts, w.Org(aged.Middle).Contacts, w.Org(aged.Grown).Contacts,
		w.Org(aged.Small).Contacts)
	if want := fmt.Sprint(aged.Test.Huge, aged.Test.Middle, aged.Test.Grown, aged.Test.Small); sizes != want {
		t.Errorf("contacts %s, want %s", sizes, want)
	}
	if w.Org(aged.Tiny).Contacts > 9 || w.Org(aged.Tiny).Key == "" {
		t.Errorf("the tiny org is %+v", w.Org(aged.Tiny))
	}
}
