package retention_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/retention"
)

func TestWhatHasHadItsTimeGoesAndTheRestStays(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	for _, s := range []string{
		`INSERT INTO idempotency_key (org_id, key, fingerprint, answer, created_at)
		 SELECT gen_random_uuid(), 'old', '', '', now() - interval '25 hours' FROM generate_series(1, 6000)`,
		`INSERT INTO idempotency_key (org_id, key, fingerprint, answer, created_at) VALUES (gen_random_uuid(), 'new', '', '', now() - interval '23 hours')`,
		`INSERT INTO tick (entry, tick) VALUES ('a', now() - interval '9 days'), ('a', now() - interval '8 days'), ('a', now() - interval '6 days'),
		 ('rare', now() - interval '40 days'), ('rare', now() - interval '10 days')`,
		`INSERT INTO webhook_replay (org_id, id, endpoint_id, from_at, to_at, types, only_failed, to_disabled, events, created_at, updated_at)
		 SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now(), '{*}', false, false, days, now() - days * interval '1 day', now() FROM (VALUES (30), (32)) AS v (days)`,
		`CREATE TABLE big (org_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (org_id, id)) PARTITION BY RANGE (id)`,
		`CREATE TABLE big_20200101 PARTITION OF big FOR VALUES FROM ('00000000-0000-0000-0000-000000000000') TO ('00000000-0000-0000-0000-000000000001')`,
		`INSERT INTO partitioned (name, keep_days) VALUES ('big', 30)`,
	} {
		if _, err := sql.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	job := retention.Job{System: db.System, Log: testkit.Log(t)}.Handler()
	for range 2 { // it may run again
		if err := job.Call(t.Context(), &queue.Claimed{ID: id.New(), Kind: job.Kind, Raw: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ what, ask, want string }{
		{"idempotency keys", "SELECT string_agg(key, ',') FROM idempotency_key", "new"},
		{"ticks", "SELECT string_agg(entry || (now()::date - tick::date), ',' ORDER BY entry) FROM tick", "a6,rare10"},
		{"replays", "SELECT string_agg(events::text, ',') FROM webhook_replay", "30"},
		{"partitions", "SELECT count(*)::text || (to_regclass('big_20200101') IS NULL)::text FROM pg_inherits WHERE inhparent = 'big'::regclass", "9true"},
	} {
		var got string
		if err := sql.QueryRow(t.Context(), c.ask).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
	}
}
