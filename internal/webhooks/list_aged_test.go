package webhooks_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// filtersOfDeliveries are all statuses with each of a few types, and neither.
func filtersOfDeliveries() (all []webhooks.Filter) {
	for _, status := range []webhooks.Status{
		"", webhooks.Pending, webhooks.Delivered, webhooks.Failed, webhooks.Exhausted, webhooks.Discarded,
	} {
		for _, event := range []string{"", "contact.updated", "contact.purged", "nothing"} {
			all = append(all, webhooks.Filter{Status: status, EventType: event})
		}
	}
	return all
}

// newestOf lists the deliveries of an org, and of one endpoint if it is not zero, by one plain statement.
func newestOf(t *testing.T, tx *postgres.Tx, f webhooks.Filter, endpoint, before id.ID, limit int) []id.ID {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT id FROM webhook_delivery WHERE org_id = $1
		AND ($2::text = '' OR status = $2) AND ($3::text = '' OR event_type = $3)
		AND ($4::uuid = '00000000-0000-0000-0000-000000000000' OR endpoint_id = $4)
		AND ($5::uuid = '00000000-0000-0000-0000-000000000000' OR id < $5) ORDER BY id DESC LIMIT $6`,
		tx.Org(), string(f.Status), f.EventType, endpoint, before, limit)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestAListOfDeliveriesOfAnAgedOrgIsRightAndReadsItsPageAlone lists by each status and type, of all endpoints and of
// one, two pages each. Today's deliveries were never analyzed.
func TestAListOfDeliveriesOfAnAgedOrgIsRightAndReadsItsPageAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	org := d.World.Org(aged.Huge).ID
	const limit = 51
	var s webhooks.Service
	if err := d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		var endpoint id.ID
		if err := tx.QueryRow(t.Context(), `SELECT id FROM webhook_endpoint ORDER BY id LIMIT 1`, nil,
			&endpoint); err != nil {
			return err
		}
		for _, f := range filtersOfDeliveries() {
			for _, one := range []id.ID{{}, endpoint} {
				var before id.ID
				for page := range 2 {
					name := fmt.Sprintf("status %q, type %q, of one endpoint: %t, page %d", f.Status, f.EventType,
						!one.IsZero(), page)
					want := newestOf(t, tx, f, one, before, limit)
					r.Take()
					var named *id.ID
					if !one.IsZero() {
						named = &one
					}
					listed, err := s.ListAllDeliveries(t.Context(), tx, named, f, before, limit)
					if err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
					read, worst := aged.Buffers(r.Take())
					got := []id.ID{}
					for i := range listed.Deliveries {
						got = append(got, listed.Deliveries[i].ID)
					}
					if len(want)+len(got) > 0 && !cmp.Equal(want, got) {
						t.Errorf("%s (-want +got): %s", name, cmp.Diff(want, got))
					}
					if (f.Status == "") != (f.EventType == "") { // no index has both
						if most := deliveriesMost(len(got)); read > most {
							t.Errorf("%s: %d buffers for %d deliveries, at most %d%s", name, read, len(got), most,
								worst)
						}
					}
					if len(got) < limit {
						break
					}
					before = got[limit-1]
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// deliveriesMost is the most that a list of deliveries may read: its page, and of each of three endpoints a look into
// the index of each of 40 days, four pages high.
func deliveriesMost(rows int) int { return aged.Page(rows) + 3*40*4 }
