package contacts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// TestAPurgeOfAContactOfAnAgedOrgErasesWhatIsAboutItAndReadsThatAlone exports and purges a contact with many events, of
// which some were delivered again.
func TestAPurgeOfAContactOfAnAgedOrgErasesWhatIsAboutItAndReadsThatAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	conn := testkit.Pgx(t, d.URL)
	for _, class := range []aged.Class{aged.Huge, aged.Grown} {
		org := d.World.Org(class).ID
		var contact id.ID
		if err := conn.QueryRow(t.Context(), `SELECT (data -> 'object' ->> 'id')::uuid FROM event e WHERE org_id = $1
			AND type <> 'contact.purged' AND EXISTS (SELECT FROM webhook_delivery d WHERE d.org_id = $1
				AND d.event_id = e.id AND EXISTS (SELECT FROM contact c WHERE c.org_id = $1
				AND c.id = (e.data -> 'object' ->> 'id')::uuid))
			GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`, org).Scan(&contact); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), `INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id,
				event_type, trigger, created_at, updated_at)
			SELECT org_id, uuidv7_at(at), endpoint_id, event_id, event_type, again.trigger, at, at
			FROM webhook_delivery CROSS JOIN LATERAL (VALUES ('redelivery', now()),
				('event', created_at + interval '20 hours'),
				('event', created_at - interval '20 hours')) AS again (trigger, at)
			WHERE org_id = $1 AND event_id IN (SELECT id FROM event WHERE org_id = $1
				AND data -> 'object' ->> 'id' = $2::uuid::text)`, org, contact); err != nil {
			t.Fatal(err)
		}
		want := aboutContact(t, conn, org, contact)
		near := deliveriesNear(t, conn, org, want)
		var got []id.ID
		r.Take()
		if err := d.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			held, err := contacts.Export(t.Context(), tx, contact)
			for _, e := range held.Events {
				got = append(got, e.ID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		read, worst := aged.Buffers(r.Take())
		if diff := cmp.Diff(want, got); len(want) == 0 || diff != "" {
			t.Errorf("%s: exported events (-want +got): %s", class, diff)
		}
		if read > aged.Page(len(got)) {
			t.Errorf("%s: an export of %d events reads %d buffers%s", class, len(got), read, worst)
		}
		if err := d.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			return contacts.Purge(t.Context(), tx, contact)
		}); err != nil {
			t.Fatal(err)
		}
		if read, worst = aged.Buffers(r.Take()); read > 1800+near {
			t.Errorf("%s: a purge of %d events reads %d buffers%s", class, len(got), read, worst)
		}
		t.Logf("%s: a purge of %d events reads %d buffers", class, len(got), read)
		if left := aboutContact(t, conn, org, contact); len(left) > 0 {
			t.Errorf("%s: events are left: %v", class, left)
		}
		var deliveries int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM webhook_delivery WHERE org_id = $1
			AND event_id = ANY ($2::uuid[])`, org, want).Scan(&deliveries); err != nil || deliveries > 0 {
			t.Errorf("%s: %d deliveries are left: %v", class, deliveries, err)
		}
	}
}

// aboutContact returns the events about a contact by what they contain, in order.
func aboutContact(t *testing.T, conn *pgx.Conn, org, contact id.ID) []id.ID {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT id FROM event WHERE org_id = $1 AND type <> 'contact.purged'
		AND data -> 'object' ->> 'id' = $2::uuid::text ORDER BY seq`, org, contact)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// deliveriesNear counts, for each of the events, the deliveries of the org in the two days around it. How many these
// are depends on the time of day: what an aged org delivered today may have been within minutes.
func deliveriesNear(t *testing.T, conn *pgx.Conn, org id.ID, events []id.ID) (near int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM event e JOIN webhook_delivery d ON d.org_id = e.org_id
			AND d.created_at BETWEEN e.created_at - interval '1 day' AND e.created_at + interval '1 day'
		WHERE e.org_id = $1 AND e.id = ANY ($2::uuid[])`, org, events).Scan(&near); err != nil {
		t.Fatal(err)
	}
	return near
}
