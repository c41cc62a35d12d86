package queue_test

import (
	"encoding/json"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// An unavailable endpoint can have thousands of waiting jobs. The test counts the pages that the slot check reads for
// other keys, under row policies and with a cached plan.
func TestAskingForASlotReadsNothingOfWhatWaitsOfOthers(t *testing.T) {
	t.Parallel()
	db, org, away := testkit.DB(t), id.New(), id.New()
	conn := testkit.Pgx(t, db.URL)
	if _, err := conn.Exec(t.Context(), `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due, line)
		SELECT $1, uuidv7_at(now()), 'test.call', '{}', 'webhooks', 8, true, $2 FROM generate_series(1, 5000)`, org,
		away); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "ANALYZE job"); err != nil {
		t.Fatal(err)
	}
	for of, c := range map[string]struct {
		lane string
		line *id.ID
		may  bool
	}{
		"another line":                    {"webhooks", new(id.New()), true},
		"none":                            {"webhooks", nil, true},
		"another lane":                    {"default", nil, true},
		"the line that waits, at its end": {"webhooks", &away, false},
	} {
		err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			tx.Queue("SET LOCAL plan_cache_mode = force_generic_plan")
			const ask = "SELECT job_wake($1, $2, 'test.call', $3, now()) IS NOT NULL"
			var may bool
			// The first execution reads catalogues.
			if err := tx.QueryRow(t.Context(), ask, []any{org, c.lane, c.line}, &may); err != nil {
				return err
			}
			if may != c.may {
				t.Errorf("a job of %s: slot %v, want %v", of, may, c.may)
			}
			var raw []byte
			if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+ask,
				[]any{org, c.lane, c.line}, &raw); err != nil {
				return err
			}
			var plans []struct {
				Plan struct {
					Hit  int `json:"Shared Hit Blocks"`
					Read int `json:"Shared Read Blocks"`
				}
			}
			if err := json.Unmarshal(raw, &plans); err != nil {
				return err
			}
			if pages := plans[0].Plan.Hit + plans[0].Plan.Read; pages > 30 {
				t.Errorf("a job of %s read %d pages", of, pages)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
