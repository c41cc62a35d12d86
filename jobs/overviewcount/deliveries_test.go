package overviewcount_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// deliver adds a delivery that was made so long ago with its job, which it has until it ends.
func (s *shop) deliver(ago string) {
	s.Helper()
	s.exec(`WITH d AS (
			INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
			SELECT $1, uuidv7_at(now() - interval '` + ago + `'), $1, gen_random_uuid(), 'contact.created', now(), now()
			RETURNING id)
		INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due)
		SELECT $1, id, 'webhook.deliver', '{}', 'webhooks', 10, false FROM d`)
}

// ended ends the oldest open delivery of the org.
func (s *shop) ended(status string) {
	s.Helper()
	s.exec(`WITH gone AS (DELETE FROM job WHERE org_id = $1 AND id = (SELECT id FROM job
			WHERE org_id = $1 AND kind = 'webhook.deliver' ORDER BY id LIMIT 1) RETURNING id)
		UPDATE webhook_delivery d SET status = '` + status + `' FROM gone WHERE d.org_id = $1 AND d.id = gone.id`)
}

// deliveries returns how many deliveries are counted, delivered and failed, and how many there are.
func (s *shop) deliveries() (counted, are [2]int) {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT (SELECT coalesce(sum(deliveries), 0) FROM day_count WHERE org_id = $1),
			(SELECT coalesce(sum(delivery_failures), 0) FROM day_count WHERE org_id = $1),
			(SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND status = 'delivered'),
			(SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND status IN ('failed', 'exhausted'))`,
			[]any{s.org}, &counted[0], &counted[1], &are[0], &are[1])
	})
	return counted, are
}

// Deliveries end in any order, some after a count that has passed others of their day.
func TestADeliveryIsCountedOnceWheneverItEnds(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.exec(`INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
		VALUES ($1, $1, 'https://example.com', '{*}', '', now(), now())`)
	counts := func(when string) {
		t.Helper()
		for _, late := range []string{"now()", "'-infinity'"} {
			s.exec(`UPDATE overview_state SET late_at = ` + late + ` WHERE org_id = $1`)
			s.work()
			if counted, are := s.deliveries(); late != "now()" && counted != are {
				t.Errorf("%s (-want +got): %s", when, cmp.Diff(are, counted))
			}
		}
	}
	for _, ago := range []string{"26 hours", "25 hours", "5 hours", "4 hours", "3 hours", "1 minute", "1 second"} {
		s.deliver(ago)
	}
	counts("all open")
	for _, status := range []string{"delivered", "exhausted", "delivered", "delivered", "exhausted"} {
		s.ended(status)
		counts("after one has ended")
	}
	s.deliver("10 minutes") // made before a delivery that has ended, visible after it
	counts("with a late one")
	for range 3 {
		s.ended("delivered")
		counts("after one of the last has ended")
	}
	s.exec(`UPDATE overview_state SET whole_at = '-infinity', ended_before = NULL WHERE org_id = $1`)
	counts("counted anew")
}
