package events_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestAPageOfATimelineIsARangeOfItsKey also covers a contact with thousands of entries, among as many of other
// contacts.
func TestAPageOfATimelineIsARangeOfItsKey(t *testing.T) {
	t.Parallel()
	db, org, contact := testkit.DB(t), id.New(), id.New()
	conn := testkit.Pgx(t, db.URL)
	if _, err := conn.Exec(t.Context(), `INSERT INTO timeline (org_id, contact_id, id, type, actor_type, data, at)
		SELECT $1, CASE WHEN g % 2 = 0 THEN $2 ELSE gen_random_uuid() END, uuidv7_at(now() - g * interval
		'1 second'), 'contact.' || g % 7, 'system', '{}', now() FROM generate_series(1, 16000) g`, org,
		contact); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE timeline`); err != nil {
		t.Fatal(err)
	}
	before := id.New()
	for name, from := range map[string]*id.ID{"first": nil, "later": &before} {
		for _, types := range [][]string{nil, {"contact.3"}, {"contact.3", "contact.4"}} {
			sql, args := events.TimelineQuery(org, []id.ID{contact}, types, from, 51)
			if bad := db.Troubles(t, org, "", sql, args...); len(bad) > 0 {
				t.Errorf("%s page of %v: %s", name, types, strings.Join(bad, ", "))
			}
		}
	}
}
