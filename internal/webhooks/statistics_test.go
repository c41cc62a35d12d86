package webhooks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// manyOrgs adds 1,000 orgs with one event and one delivery each, of today.
const manyOrgs = `
WITH o AS (SELECT gen_random_uuid() AS org_id, uuidv7_at(now()) AS id FROM generate_series(1, 1000)), e AS (
	INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
	SELECT org_id, id, 1, 'contact.created', 'system', '{}', now() FROM o),
ep AS (INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
	SELECT org_id, org_id, 'https://example.com', '{*}', '', now(), now() FROM o),
j AS (INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line)
	SELECT org_id, id, 'test.a', '{}', 'webhooks', 1, org_id FROM o)
INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
SELECT org_id, id, org_id, id, 'contact.created', now(), now() FROM o`

// grownOrg adds 10,000 events, deliveries and jobs to org $1.
const grownOrg = `
WITH o AS (SELECT $1::uuid AS org_id, uuidv7_at(now()) AS id FROM generate_series(1, 10000)), e AS (
	INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
	SELECT org_id, id, row_number() OVER (), 'contact.created', 'system', '{}', now() FROM o),
ep AS (INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
	SELECT $1, $1, 'https://example.com', '{*}', '', now(), now()),
j AS (INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line)
	SELECT org_id, id, 'test.a', '{}', 'webhooks', 1, org_id FROM o)
INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
SELECT org_id, id, org_id, id, 'contact.created', now(), now() FROM o`

// The statistics are those of a day that was analyzed never, while each org had one delivery, or just now.
func TestADeliveryIsReadAndWrittenByItsKeyWhateverTheStatisticsSayOfItsOrg(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"never analyzed":            {manyOrgs, grownOrg},
		"analyzed before it grew":   {manyOrgs, "ANALYZE", grownOrg},
		"analyzed when it was done": {manyOrgs, grownOrg, "ANALYZE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, org := testkit.DB(t), id.New()
			super := testkit.Pgx(t, db.URL)
			for _, sql := range statements {
				var args []any
				if sql == grownOrg {
					args = []any{org}
				}
				if _, err := super.Exec(t.Context(), sql, args...); err != nil {
					t.Fatal(err)
				}
			}
			rows, _ := super.Query(t.Context(), "SELECT id FROM webhook_delivery WHERE org_id = $1 ORDER BY id", org)
			all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
			if err != nil || len(all) != 10000 {
				t.Fatalf("%d deliveries, %v", len(all), err)
			}

			for _, count := range []int{1, 40} {
				ids := make([]id.ID, count) // spread over the org's, as those of endpoints that differ in speed are
				for i := range ids {
					ids[i] = all[len(all)-1-i*(len(all)/count)]
				}
				first, last := slices.MinFunc(ids, id.Compare), slices.MaxFunc(ids, id.Compare)
				least := id.Floor(first.Time().Add(-webhooks.EventSlack))
				most := id.Floor(last.Time().Add(webhooks.EventSlack))
				for statement, args := range map[string][]any{
					webhooks.LoadAllSQL:   {org, ids, first, last, least, most},
					webhooks.EventsSQL:    {org, ids, first, last},
					webhooks.DeliveredSQL: delivered(org, ids),
				} {
					read, plan := db.Buffers(t, org, webhooks.ByKey, statement, args...)
					if read > 200+40*count {
						t.Errorf("%d buffers for %d deliveries:\n%s\n%s", read, count, statement, plan)
					}
				}
			}
		})
	}
}

// delivered returns the arguments of the statement that writes successful attempts.
func delivered(org id.ID, ids []id.ID) []any {
	repeat := func(v any) any {
		switch v := v.(type) {
		case int:
			return slices.Repeat([]int{v}, len(ids))
		case string:
			return slices.Repeat([]string{v}, len(ids))
		case []byte:
			return slices.Repeat([][]byte{v}, len(ids))
		case bool:
			return slices.Repeat([]bool{v}, len(ids))
		default:
			return slices.Repeat([]time.Time{time.Now()}, len(ids))
		}
	}
	return []any{
		org,
		[]id.ID{org},
		time.Now(), ids, ids, repeat(1), repeat("{}"), repeat(200), repeat([]byte{}), repeat(false),
		repeat(1), repeat(1), repeat(1), repeat(1), repeat(1), repeat(""), repeat(nil),
	}
}
