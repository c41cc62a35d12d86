package webhooks_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Under row policies an operator that is not leakproof keeps an index out of use, and only the app role's plans
// show it.
func TestListsAndDeliveriesUseTheirIndexesAsTheAppRole(t *testing.T) {
	t.Parallel()
	db, org, endpoint := testkit.DB(t), id.New(), id.New()
	conn := testkit.Pgx(t, db.URL)
	for _, sql := range []string{
		`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT $1, uuidv7_at(now() - n * interval '1 minute'), n, 'contact.created', 'system', '{}', now() FROM generate_series(1, 20000) n, (SELECT $2::uuid) AS unused`,
		`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, created_at, updated_at)
			SELECT $1, uuidv7_at(now() - n * interval '1 minute'), $2, gen_random_uuid(), 'x', CASE WHEN n % 1000 = 0 THEN 'exhausted' ELSE 'delivered' END, now(), now() FROM generate_series(1, 20000) n`,
		`INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, started_at)
			SELECT org_id, id, id, 1, 'event', '{}', now() FROM webhook_delivery WHERE $2 = endpoint_id AND org_id = $1`,
	} {
		if _, err := conn.Exec(t.Context(), sql, org, endpoint); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	last := id.ID{0xff}
	for name, c := range map[string]struct {
		sql   string
		args  []any
		index string
	}{
		"deliveries":           {webhooks.DeliveriesSQL, []any{org, endpoint, last, 51}, "endpoint_id_id_idx"},
		"deliveries by status": {webhooks.DeliveriesOfStatusSQL, []any{org, endpoint, last, 51, "exhausted"}, "endpoint_id_status_id_idx"},
		"attempts":             {webhooks.AttemptsSQL, []any{org, []id.ID{id.New(), id.New()}, false}, "delivery_id_id_idx"},
		"load":                 {webhooks.LoadSQL, []any{org, id.New()}, "_pkey"},
	} {
		var plan []string
		if err := db.App.View(t.Context(), org, func(tx *postgres.Tx) error {
			rows, err := tx.Query(t.Context(), "EXPLAIN "+c.sql, c.args...)
			if err != nil {
				return err
			}
			plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		// Nearly all rows stand in the default partitions; the others are empty, where a scan is the best plan.
		if !strings.Contains(text, c.index) || regexp.MustCompile(`Seq Scan on \w+_default`).MatchString(text) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
