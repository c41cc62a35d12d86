package webhooks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// filled returns an org with 20,000 events, deliveries and attempts over the five days that end at the next midnight,
// most of them at one endpoint and the rest at another, each day in its partition, in an analyzed database. No
// partition is small, at any time of day, because a sequential scan is the best plan for a small table.
func filled(t *testing.T) (db *testkit.Database, org, endpoint id.ID) {
	t.Helper()
	db, org, endpoint = testkit.DB(t), id.New(), id.New()
	conn := testkit.Pgx(t, db.URL)
	for _, table := range []string{"event", "webhook_delivery", "webhook_attempt"} {
		for back := 2; back <= 4; back++ { // yesterday's exists, and at midnight another one
			d := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -back)
			if _, err := conn.Exec(t.Context(),
				fmt.Sprintf(
					"CREATE TABLE IF NOT EXISTS %s_%s PARTITION OF %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')",
					table, d.Format("20060102"), id.Floor(d), id.Floor(d.AddDate(0, 0, 1)))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, sql := range []string{
		`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT $1, uuidv7_at(at), n, 'contact.created', 'system', '{}', at
			FROM (SELECT n, date_trunc('day', now(), 'UTC') + interval '1 day' - n * interval '21 seconds' AS at
			FROM generate_series(1, 20000) n) e, (SELECT $2::uuid) AS unused`,
		`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, created_at,
			updated_at, trigger, replay_id)
			SELECT $1, uuidv7_at(at), CASE WHEN n % 5 = 3 THEN $1 ELSE $2::uuid END, gen_random_uuid(), CASE
			WHEN n % 1000 = 1 THEN 'deal.won' ELSE 'contact.created' END, CASE WHEN n % 1000 = 0 THEN 'exhausted'
			ELSE 'delivered' END, at, at,
				CASE WHEN n % 500 = 7 THEN 'replay' ELSE 'event' END, CASE WHEN n % 500 = 7 THEN $2::uuid END
			FROM (SELECT n, date_trunc('day', now(), 'UTC') + interval '1 day' - n * interval '21 seconds' AS at
			FROM generate_series(1, 20000) n) e`,
		`INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, started_at)
			SELECT org_id, id, id, 1, 'event', '{}', now() FROM webhook_delivery WHERE $2 = endpoint_id
			AND org_id = $1`,
	} {
		if _, err := conn.Exec(t.Context(), sql, org, endpoint); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	return db, org, endpoint
}

// until returns the id before which f's deliveries are.
func until(f webhooks.Filter, now time.Time) id.ID {
	if f.CreatedBefore.IsZero() {
		return id.Floor(now.Add(time.Minute))
	}
	return id.Floor(f.CreatedBefore)
}

// Under row-level security, an operator that is not leakproof prevents index use, and only plans of the app role show
// that.
func TestEveryQueryOfDeliveriesUsesItsIndexAsTheAppRole(t *testing.T) {
	t.Parallel()
	db, org, endpoint := filled(t)
	now := time.Now().UTC()
	midday := now.Truncate(24 * time.Hour).Add(-36 * time.Hour) // two days ago at noon
	list := func(f webhooks.Filter) func() (string, []any) {
		return func() (string, []any) {
			return webhooks.Listing(org, endpoint, f, id.Floor(f.CreatedAfter), until(f, now), 51)
		}
	}
	overall := func(f webhooks.Filter) func() (string, []any) {
		return func() (string, []any) {
			return webhooks.ListingAll(org, f, id.Floor(f.CreatedAfter), until(f, now), 51)
		}
	}
	newest := func(f webhooks.Filter) func() (string, []any) { // the first query of a first page
		return func() (string, []any) {
			return webhooks.Listing(org, endpoint, f, id.Floor(now.Add(-36*time.Hour)),
				id.Floor(now.Add(time.Minute)), 51)
		}
	}
	walk := func(failed bool) func() (string, []any) {
		return func() (string, []any) {
			r := webhooks.Replay{
				WebhookID: endpoint, From: wire.At(midday), To: wire.At(midday.Add(time.Hour)),
				Types: []string{"*"}, OnlyFailed: failed,
			}
			sql, args := r.Matching()
			return sql + " ORDER BY id LIMIT 100", append([]any{org}, args...)
		}
	}
	fixed := func(sql string, args ...any) func() (string, []any) {
		return func() (string, []any) { return sql, args }
	}
	for name, c := range map[string]struct {
		statement func() (string, []any)
		index     string
		days      int // maximum number of partitions; 0: any
	}{
		"deliveries":             {list(webhooks.Filter{}), "endpoint_id_indexed_status_", 0},
		"deliveries by status":   {list(webhooks.Filter{Status: "exhausted"}), "endpoint_id_indexed_status_", 0},
		"pending deliveries":     {list(webhooks.Filter{Status: "pending"}), "_pkey", 0},
		"all pending deliveries": {overall(webhooks.Filter{Status: "pending"}), "_pkey", 0},
		"deliveries by type": {
			list(webhooks.Filter{EventType: "deal.won"}),
			"endpoint_id_event_type_id_idx", 0,
		},
		"deliveries by status and type": {
			list(webhooks.Filter{Status: "exhausted", EventType: "contact.created"}),
			"endpoint_id_indexed_status_", 0,
		},
		"deliveries of an hour": {list(webhooks.Filter{
			CreatedAfter:  midday,
			CreatedBefore: midday.Add(time.Hour),
		}), "Index", 1},
		"deliveries of a day by status": {list(webhooks.Filter{
			Status: "exhausted", CreatedAfter: midday,
			CreatedBefore: midday.Add(24 * time.Hour),
		}), "Index", 2},
		"the newest by status":     {newest(webhooks.Filter{Status: "exhausted"}), "Index", 4},
		"all deliveries":           {overall(webhooks.Filter{}), "_pkey", 0},
		"all deliveries by status": {overall(webhooks.Filter{Status: "exhausted"}), "endpoint_id_indexed_status_", 0},
		"all deliveries by type": {
			overall(webhooks.Filter{EventType: "deal.won"}),
			"endpoint_id_event_type_id_idx", 0,
		},
		"all deliveries of an hour": {overall(webhooks.Filter{
			CreatedAfter:  midday,
			CreatedBefore: midday.Add(time.Hour),
		}), "Index", 1},
		// a day of each table
		"attempts": {fixed(webhooks.AttemptsSQL, org, []id.ID{id.New(), id.New()}, false,
			id.Floor(midday), id.Floor(midday.Add(time.Hour)), []id.ID{id.Floor(midday), id.Floor(midday)},
			[]id.ID{id.Floor(midday.Add(time.Hour)), id.Floor(midday.Add(time.Hour))}), "delivery_id_id_idx", 2},
		"a walk over events": {walk(false), "_pkey", 1},
		// and over all later deliveries of the same event
		"a walk over failures": {walk(true), "endpoint_id_indexed_status_", 0},
		"how a replay stands": {fixed(webhooks.ReplayStatusesSQL, org, endpoint, id.Floor(midday),
			until(webhooks.Filter{}, now)), "replay_id_indexed_status_", 0},
	} {
		sql, args := c.statement()
		var plan []string
		if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
			rows, err := tx.Query(t.Context(), "EXPLAIN "+sql, args...)
			if err != nil {
				return err
			}
			plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := strings.Join(plan, "\n")
		days := regexp.MustCompile(`on \w+_(20\d{6}|default)`).FindAllString(text, -1)
		slices.Sort(days)
		days = slices.Compact(days)
		// Future partitions are empty; a sequential scan is their best plan.
		past := now.AddDate(0, 0, 1).Format("20060102")
		for _, scan := range regexp.MustCompile(`Seq Scan on \w+_(20\d{6})`).FindAllStringSubmatch(text, -1) {
			if scan[1] < past {
				t.Errorf("%s reads a whole day:\n%s", name, text)
			}
		}
		if !strings.Contains(text, c.index) || c.days > 0 && len(days) > c.days {
			t.Errorf("%s, want %s and at most %d days:\n%s", name, c.index, c.days, text)
		}
	}
}

// Without statistics, as in a new install and at each midnight, all indexes cost the same.
func TestDeliveriesAreFoundByTheirKeyWhereNothingIsKnownOfTheirTables(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	super := testkit.Pgx(t, db.URL)
	// A partition created later, as the daily ones are.
	for _, sql := range []string{
		"DROP TABLE event_" + tomorrow(), "DROP TABLE webhook_delivery_" + tomorrow(),
		"SELECT make_partitions(3)",
	} {
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	org, ids := id.New(), []id.ID{id.New(), id.Floor(time.Now().UTC().AddDate(0, 0, 1))}
	if _, err := super.Exec(t.Context(),
		"INSERT INTO job (org_id, id, kind, args, lane, max_attempts) SELECT gen_random_uuid(), gen_random_uuid(), "+
			"'test.a', '{}', 'bulk', 1 FROM generate_series(1, 10)"); err != nil {
		t.Fatal(err)
	}
	scans := 0
	if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue(webhooks.ByKey)
		rows, err := tx.Query(t.Context(), "EXPLAIN "+webhooks.LoadAllSQL, org, ids, ids[0], ids[1], ids[0], ids[1])
		if err != nil {
			return err
		}
		var line string
		_, err = pgx.ForEachRow(rows, []any{&line}, func() error {
			scan := regexp.MustCompile(`(\w+ Scan)(?: using (\w+))? on (event|webhook_delivery)_`).
				FindStringSubmatch(line)
			if scan == nil {
				return nil
			}
			if scans++; scan[1] != "Index Scan" || !strings.HasSuffix(scan[2], "_pkey") {
				t.Errorf("not by its key: %s", line)
			}
			return nil
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if scans < 4 {
		t.Errorf("%d scans of days", scans)
	}
}

func tomorrow() string { return time.Now().UTC().AddDate(0, 0, 1).Format("20060102") }
