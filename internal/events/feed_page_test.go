package events_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestThePagesOfAFeedHaveEachEventOnceThoughIDsAreInAnotherOrder reads events whose ids are in no order: history that
// was written later, by processes whose clocks differ.
func TestThePagesOfAFeedHaveEachEventOnceThoughIDsAreInAnotherOrder(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn, org := testkit.Pgx(t, db.URL), id.New()
	r := rand.New(rand.NewPCG(7, 7)) // a seed, so that a failure repeats
	for seq := range 700 {
		kind, age := "contact.updated", time.Duration(r.Int64N(int64(32*24*time.Hour)))-time.Minute
		switch {
		case seq%9 == 0:
			kind = "deal.created"
		case seq%300 == 1:
			kind = "contact.purged"
		}
		if seq%5 == 0 {
			age /= 1000 // of today
		}
		event := id.Floor(time.Now().Add(-age))
		event[6], event[14], event[15] = 0x70, byte(seq>>8), byte(seq)
		if _, err := conn.Exec(t.Context(), `INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			VALUES ($1, $2, $3, $4, 'system', '{}', now())`, org, event, seq+1, kind); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		for _, types := range [][]string{
			nil,
			{"contact.updated"},
			{"deal.created"},
			{"contact.purged", "deal.created"},
			{"contact.purged"},
			{"org.deleted"},
		} {
			for _, limit := range []int{1, 7, 100, 1000} {
				want := feedOf(t, tx, types)
				if got := pagesOf(t, tx, types, limit, false, nil); !slices.Equal(want, got) {
					t.Errorf("%v by %d (-want +got): %s", types, limit, cmp.Diff(want, got))
				}
				slices.Reverse(want)
				if got := pagesOf(t, tx, types, limit, true, nil); !slices.Equal(want, got) {
					t.Errorf("%v by %d, latest first (-want +got): %s", types, limit, cmp.Diff(want, got))
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// pagesOf reads all pages of a feed, and calls check after each, unless it is nil.
func pagesOf(t *testing.T, tx *postgres.Tx, types []string, limit int, latest bool, check func(*events.Page)) (
	all []id.ID,
) {
	t.Helper()
	read, at := events.FeedPage, int64(0)
	if latest {
		read, at = events.LatestPage, math.MaxInt64
	}
	for {
		p, err := read(t.Context(), tx, at, types, limit)
		if err != nil {
			t.Fatal(err)
		}
		if check != nil {
			check(&p)
		}
		if all = append(all, idsOf(p.Events)...); !p.More {
			return all
		}
		if p.Seen == at || len(p.Events) > limit {
			t.Fatalf("a page of %d from %d ends at %d", len(p.Events), at, p.Seen)
		}
		at = p.Seen
	}
}
