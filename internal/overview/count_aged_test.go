package overview_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// daysOf returns the deliveries of an org by day, delivered and failed: those that are stored in day_count, and those
// that there are, of the last days on which one may change.
func daysOf(t *testing.T, d *aged.Database, org id.ID) (stored, are map[string][2]int) {
	t.Helper()
	read := func(sql string) map[string][2]int {
		all := map[string][2]int{}
		if err := d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
			rows, err := tx.Query(t.Context(), sql, org, time.Now().UTC().AddDate(0, 0, -5))
			if err != nil {
				return err
			}
			var (
				day string
				n   [2]int
			)
			_, err = pgx.ForEachRow(rows, []any{&day, &n[0], &n[1]}, func() error {
				all[day] = n
				return nil
			})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	stored = read(`SELECT day::text, deliveries, delivery_failures FROM day_count WHERE org_id = $1
		AND day >= $2::date AND deliveries + delivery_failures > 0`)
	are = read(`SELECT * FROM (SELECT d.day::date::text, (SELECT count(*) FROM webhook_delivery WHERE org_id = $1
			AND id >= uuid_floor(d.day) AND id < uuid_floor(d.day + interval '1 day') AND status = 'delivered') AS good,
		(SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND id >= uuid_floor(d.day)
			AND id < uuid_floor(d.day + interval '1 day') AND status IN ('failed', 'exhausted')) AS bad
		FROM generate_series($2::date::timestamptz, now(), interval '1 day') AS d (day)) AS x WHERE good + bad > 0`)
	return stored, are
}

// TestACountOfAnAgedOrgReadsNoDeliveryThatHasEndedBefore counts, lets open deliveries end, and counts again: what is
// stored is what there is, and statements read their day's new deliveries by key and lock that day alone.
func TestACountOfAnAgedOrgReadsNoDeliveryThatHasEndedBefore(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	conn := testkit.Pgx(t, d.URL)
	for _, class := range []aged.Class{aged.Huge, aged.Grown, aged.Middle, aged.Small} {
		org := d.World.Org(class).ID
		tx := func(fn func(tx *postgres.Tx) error) {
			t.Helper()
			if err := d.App.Tx(t.Context(), org, fn); err != nil {
				t.Fatal(err)
			}
		}
		count := func(tx *postgres.Tx) error { return overview.Count(t.Context(), tx) }
		tx(count)
		if stored, are := daysOf(t, d, org); !cmp.Equal(stored, are) {
			t.Errorf("%s, a first count (-stored +are): %s", class, cmp.Diff(stored, are))
		}

		tx(func(tx *postgres.Tx) error {
			tx.Queue(`UPDATE webhook_delivery
				SET status = CASE WHEN id::text LIKE '%a' THEN 'exhausted' ELSE 'delivered' END
				WHERE org_id = $1 AND status = 'pending'`, org)
			tx.Queue(`DELETE FROM job WHERE org_id = $1 AND kind = 'webhook.deliver'`, org)
			tx.Queue(`UPDATE overview_state SET late_at = '-infinity' WHERE org_id = $1`, org)
			return nil
		})
		tx(count)
		if stored, are := daysOf(t, d, org); !cmp.Equal(stored, are) {
			t.Errorf("%s, after open ones have ended (-stored +are): %s", class, cmp.Diff(stored, are))
		}

		// What may still become visible is read again: early in a day, much of it is of the last hour.
		var late int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM webhook_delivery
			WHERE org_id = $1 AND created_at > now() - interval '61 minutes'`, org).Scan(&late); err != nil {
			t.Fatal(err)
		}
		r.Take()
		tx(count)
		for _, p := range r.Take() {
			n := p.Root.Buffers()
			if strings.Contains(p.SQL, "webhook_delivery") && n > aged.Page(p.Root.Given())+late {
				t.Errorf("%s, without an open delivery: %d buffers: %s, %s", class, n, p.SQL, p.Root.Worst())
			}
		}
		if stored, are := daysOf(t, d, org); !cmp.Equal(stored, are) {
			t.Errorf("%s, a repeated count (-stored +are): %s", class, cmp.Diff(stored, are))
		}
	}
}

// TestAReadOfAnOverviewOfAnAgedOrgReadsItsPageAlone reads the overview of orgs that nobody has read for long, one of
// which was never counted.
func TestAReadOfAnOverviewOfAnAgedOrgReadsItsPageAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	const never = "counted_at = '-infinity', whole_at = '-infinity', seq = 0, ended_before = NULL"
	for _, state := range []string{"true", never} {
		for _, class := range []aged.Class{aged.Huge, aged.Grown, aged.Middle, aged.Small, aged.Tiny} {
			org := d.World.Org(class).ID
			if state != "true" {
				if err := d.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
					tx.Queue(`UPDATE overview_state SET read_at = '-infinity', `+state+` WHERE org_id = $1`, org)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			r.Take()
			if err := overview.Refresh(t.Context(), d.App, org); err != nil {
				t.Fatal(err)
			}
			days := 0
			if err := d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
				o, err := overview.Read(t.Context(), tx, today.AddDate(0, 0, -29), today)
				if err == nil {
					days = len(o.Series)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			read, worst := aged.Buffers(r.Take())
			if most := aged.Page(days); read > most {
				t.Errorf("%s, %s: %d buffers for %d days, at most %d%s", class, state, read, days, most, worst)
			}
		}
	}
}
