package webhooks_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

func TestSpansOfDeliveriesHaveEachIDOnceAndFewDays(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, before := range []time.Time{day, day.Add(time.Millisecond), day.Add(13 * time.Hour), day.Add(-time.Second)} {
		for _, from := range []time.Time{
			day.Add(-time.Hour), day.AddDate(0, 0, -1), day.AddDate(0, 0, -31).Add(5 * time.Hour),
			day.AddDate(-1, 0, 0), before, before.Add(time.Hour),
		} {
			at := id.Floor(before)
			for lower, upper := range webhooks.Spans(id.Floor(from), id.Floor(before)) {
				if upper != at || id.Compare(lower, upper) >= 0 {
					t.Fatalf("%s to %s: from %s to before %s after %s", from, before, lower, upper, at)
				}
				first, last := lower.Time().Truncate(24*time.Hour), upper.Time().Add(-time.Millisecond)
				if days := 1 + int(last.Truncate(24*time.Hour).Sub(first)/(24*time.Hour)); days > 5 {
					t.Errorf("%s to %s: %d days", from, before, days)
				}
				at = lower
			}
			if want := id.Floor(from); at != want && id.Compare(want, id.Floor(before)) < 0 {
				t.Errorf("%s to %s: ends at %s", from, before, at)
			}
		}
	}
}

// TestAListOfRareDeliveriesOfAYearIsReadInShortPages keeps deliveries for a year, of which one has failed.
func TestAListOfRareDeliveriesOfAYearIsReadInShortPages(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn, org, endpoint := testkit.Pgx(t, db.URL), id.New(), id.New()
	failed := id.New()
	long := id.Floor(time.Now().AddDate(0, 0, -300))
	copy(failed[:6], long[:6])
	for sql, args := range map[string][]any{
		`UPDATE partitioned SET keep_days = 365 WHERE name = 'webhook_delivery'`: nil,
		`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, created_at, updated_at)
			SELECT $1, CASE n WHEN 300 THEN $3 ELSE uuidv7_at(at) END, $2, gen_random_uuid(), 'contact.created',
				CASE n WHEN 300 THEN 'exhausted' ELSE 'delivered' END, at, at
			FROM (SELECT n, now() - n * interval '1 day' AS at FROM generate_series(1, 350) AS n) AS days`: {
			org, endpoint, failed,
		},
	} {
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	var found []id.ID
	var before id.ID
	pages := 0
	if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		for more := true; more; pages++ {
			page, err := new(webhooks.Service).ListAllDeliveries(t.Context(), tx, &endpoint,
				webhooks.Filter{Status: webhooks.Exhausted}, before, 10)
			if err != nil {
				return err
			}
			for i := range page.Deliveries {
				found = append(found, page.Deliveries[i].ID)
			}
			if more = page.Next != nil; more {
				before = *page.Next
			}
		}
		n, err := new(webhooks.Service).CountDeliveries(t.Context(), tx, nil, webhooks.Filter{}, false)
		if err == nil && *n != 350 {
			t.Errorf("%d deliveries are counted", *n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0] != failed || pages < 5 || pages > 12 {
		t.Errorf("found %v in %d pages", found, pages)
	}
}
