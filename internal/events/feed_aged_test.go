package events_test

import (
	"fmt"
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
	aged.SkipShort(t)
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
			r.Take()
			check := func(p *events.Page) { checkStretch(t, r, p, fmt.Sprint(types)) }
			if got := pagesOf(t, tx, types, limit, false, check); !slices.Equal(want, got) {
				t.Errorf("%v (-want +got): %s", types, cmp.Diff(want, got))
			}
			slices.Reverse(want)
			if got := pagesOf(t, tx, types, limit, true, check); !slices.Equal(want, got) {
				t.Errorf("%v, latest first (-want +got): %s", types, cmp.Diff(want, got))
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
	read, worst := aged.Buffers(r.Take())
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
	rows, err := tx.Query(t.Context(), `SELECT id FROM event WHERE org_id = $1
		AND ($2::text[] IS NULL OR type = ANY ($2)) AND seq < (SELECT event_horizon())
		AND id >= uuid_floor(date_trunc('day', now() - interval '30 days', 'UTC')) ORDER BY seq`,
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
