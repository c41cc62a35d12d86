package platformretention_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

func TestWhatHasHadItsTimeGoesAndTheRestStays(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	for _, s := range []string{
		`INSERT INTO idempotency_key (org_id, key, fingerprint, answer, created_at)
		 SELECT gen_random_uuid(), 'old', '', '', now() - interval '25 hours' FROM generate_series(1, 6000)`,
		`INSERT INTO idempotency_key (org_id, key, fingerprint, answer, created_at)
			VALUES (gen_random_uuid(), 'new', '', '', now() - interval '23 hours')`,
		`INSERT INTO email_month (org_id, period, slot, used)
			SELECT gen_random_uuid(), now() - days * interval '1 day', 0, days FROM (VALUES (390), (410)) AS v (days)`,
		`INSERT INTO tick (entry, tick) VALUES ('a', now() - interval '9 days'), ('a', now() - interval '8 days'),
			('a', now() - interval '6 days'),
		 ('rare', now() - interval '40 days'), ('rare', now() - interval '10 days')`,
		`INSERT INTO webhook_replay (org_id, id, endpoint_id, from_at, to_at, types, only_failed, to_disabled,
			events, created_at, updated_at)
		 SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now(), '{*}', false, false, days,
		now() - days * interval '1 day', now() FROM (VALUES (30), (32)) AS v (days)`,
		`INSERT INTO contact_import (org_id, id, status, actor_type, actor_id, request_id, link_key, created_at)
		 SELECT gen_random_uuid(), gen_random_uuid(), status, '', '', '', '', now() - age
		FROM (VALUES ('completed', interval '366 days'), ('completed', '31 days'), ('running', '29 days'),
		 ('uploading', '3 hours'), ('uploading', '1 hour')) AS v (status, age)`,
		`INSERT INTO contact_import_block SELECT org_id, id, n, '' FROM contact_import, generate_series(1, 3) n`,
		`INSERT INTO contact_import_error SELECT org_id, id, n, '', '', ''
			FROM contact_import, generate_series(1, 3) n`,
		`INSERT INTO contact_import_effect (org_id, import_id, contact_id, act, was_edit, edit)
			SELECT org_id, id, gen_random_uuid(), 'created', 0, 1 FROM contact_import, generate_series(1, 3) n`,
		`INSERT INTO suppression_import (org_id, id, status, created_by, link_key, created_at)
		 SELECT gen_random_uuid(), gen_random_uuid(), status, '', '', now() - age
		FROM (VALUES ('completed', interval '366 days'), ('completed', '31 days'), ('running', '29 days'),
		 ('uploading', '3 hours'), ('uploading', '1 hour')) AS v (status, age)`,
		`INSERT INTO suppression_import_block SELECT org_id, id, n, ''
			FROM suppression_import, generate_series(1, 3) n`,
		`INSERT INTO suppression_import_error SELECT org_id, id, n, '', '', ''
			FROM suppression_import, generate_series(1, 3) n`,
		`INSERT INTO contact_export (org_id, id, status, format, archived, fields, actor_type, actor_id,
			request_id, link_key, created_at, expires_at)
		 SELECT gen_random_uuid(), gen_random_uuid(), 'completed', 'csv', false, '{}', '', '', '', '', now() -
		age, now() - age + interval '7 days'
		 FROM (VALUES (interval '366 days'), ('8 days'), ('6 days')) AS v (age)`,
		`INSERT INTO contact_export_part SELECT org_id, id, 0, '' FROM contact_export`,
		`CREATE TABLE big (org_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (org_id, id)) PARTITION BY RANGE (id)`,
		`CREATE TABLE big_20200101 PARTITION OF big FOR VALUES
			FROM ('00000000-0000-0000-0000-000000000000') TO ('00000000-0000-0000-0000-000000000001')`,
		`INSERT INTO partitioned (name, keep_days) VALUES ('big', 30)`,
	} {
		if _, err := sql.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	job := platformretention.Job{System: db.System, Log: testkit.Log(t)}.Handler()
	for range 2 { // must be safe to repeat
		if err := job.Call(t.Context(), &queue.Claimed{ID: id.New(), Kind: job.Kind, Raw: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ what, ask, want string }{
		{"idempotency keys", "SELECT string_agg(key, ',') FROM idempotency_key", "new"},
		{"months of email", "SELECT string_agg(used::text, ',') FROM email_month", "390"},
		{"ticks", "SELECT string_agg(entry || (now()::date - tick::date), ',' ORDER BY entry) FROM tick", "a6,rare10"},
		{"replays", "SELECT string_agg(events::text, ',') FROM webhook_replay", "30"},
		{
			"imports",
			"SELECT string_agg(status || (now()::date - created_at::date), ',' ORDER BY created_at) FROM " +
				"contact_import WHERE status <> 'uploading'", "completed31,running29",
		},
		{"uploads", "SELECT count(*)::text FROM contact_import WHERE status = 'uploading'", "1"},
		{
			"blocks, errors, effects",
			"SELECT concat((SELECT count(*) FROM contact_import_block), (SELECT count(*) FROM " +
				"contact_import_error), (SELECT count(*) FROM contact_import_effect))", "699",
		},
		{
			"imports of suppressions",
			"SELECT string_agg(status || CASE status WHEN 'uploading' THEN '' ELSE (now()::date - " +
				"created_at::date)::text END, ',' ORDER BY created_at) || (SELECT count(*) FROM " +
				"suppression_import_block) || (SELECT count(*) FROM suppression_import_error) FROM " +
				"suppression_import", "completed31,running29,uploading69",
		},
		{
			"exports",
			"SELECT string_agg(status, ',' ORDER BY created_at) || (SELECT count(*) FROM contact_export_part) FROM " +
				"contact_export", "expired,completed1",
		},
		{
			"partitions",
			"SELECT count(*)::text || (to_regclass('big_20200101') IS NULL)::text FROM pg_inherits WHERE inhparent " +
				"= 'big'::regclass", "9true",
		},
	} {
		var got string
		if err := sql.QueryRow(t.Context(), c.ask).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
	}
}
