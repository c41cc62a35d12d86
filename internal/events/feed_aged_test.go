package events_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// TestTheFeedOfARareTypeIsReadWholeInBoundedPages reads the feed of rare types in both orders to its end. No page looks
// at more than 500 events, and together they have each event once, as Feed has.
func TestTheFeedOfARareTypeIsReadWholeInBoundedPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a database of 600 orgs")
	}
	d := aged.Read(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	const limit = 51
	r.Take()
	if err := d.App.ReadTx(t.Context(), d.World.Org(aged.Huge).ID, func(tx *postgres.Tx) error {
		for _, types := range [][]string{{"contact.purged"}, {"contact.archived", "deal.created"}} {
			first, err := events.FeedPage(t.Context(), tx, 0, types, limit)
			if err != nil {
				return err
			}
			checkStretch(t, r, &first, "the first page, planned for its arguments")
			want := feedOf(t, tx, types)
			t.Logf("%d events of %v", len(want), types)
			whole, err := events.Feed(t.Context(), tx, 0, types, 1_000_000)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, idsOf(whole)); diff != "" {
				t.Errorf("Feed of %v (-want +got): %s", types, diff)
			}
			for order, read := range map[string]func(int64) (events.Page, error){
				"seq": func(at int64) (events.Page, error) {
					return events.FeedPage(t.Context(), tx, at, types, limit)
				},
				"-seq": func(at int64) (events.Page, error) {
					return events.LatestPage(t.Context(), tx, at, types, limit)
				},
			} {
				got := []id.ID{}
				at := int64(0)
				if order == "-seq" {
					at = math.MaxInt64
				}
				for more := true; more; {
					r.Take()
					p, err := read(at)
					if err != nil {
						return err
					}
					checkStretch(t, r, &p, order)
					got, at, more = append(got, idsOf(p.Events)...), p.Seen, p.More
				}
				if order == "-seq" {
					slices.Reverse(got)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v by %s (-want +got): %s", types, order, diff)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// checkStretch compares the buffers of a page with those of 500 events and of a look into the index of each day.
func checkStretch(t *testing.T, r *aged.Recorder, p *events.Page, name string) {
	t.Helper()
	read, worst := 0, ""
	for _, plan := range r.Take() {
		read += plan.Root.Buffers()
		worst += "\n" + plan.Root.Worst()
	}
	if read > aged.Page(len(p.Events))+500 {
		t.Errorf("%s: %d buffers for %d events%s", name, read, len(p.Events), worst)
	}
}

func idsOf(all []*events.Stored) []id.ID {
	ids := []id.ID{}
	for _, e := range all {
		ids = append(ids, e.ID)
	}
	return ids
}

// feedOf returns the events of the types that the feed has, by one plain statement.
func feedOf(t *testing.T, tx *postgres.Tx, types []string) []id.ID {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT id FROM event WHERE org_id = $1 AND type = ANY ($2)
		AND seq < (SELECT event_horizon()) AND id >= uuid_floor(now() - interval '30 days') ORDER BY seq`,
		tx.Org(), types)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
