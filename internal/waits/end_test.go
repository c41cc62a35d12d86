package waits_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/waits"
)

// rows are what waits: by a clock that was an hour ahead, and rightly. $1 is the org.
var rows = []string{
	`INSERT INTO webhook_health (org_id, endpoint_id, opened_at, next_probe_at) VALUES
		($1, gen_random_uuid(), now() + interval '1 hour', now() + interval '61 minutes'),
		($1, gen_random_uuid(), now() - interval '2 hours', now() + interval '50 minutes')`,
	`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at, updated_at,
		health_at, domain_checked_at, next_slot_at, gap_max)
		SELECT $1, gen_random_uuid(), n, 'sandbox', n || '@a.example', n || '@a.example', 'a.example', 'active', now(),
			now(), now() + h, now() + d, now() + s, 120
		FROM (VALUES ('ahead', interval '1 hour', interval '1 hour', interval '61 minutes'),
			('right', interval '-1 minute', interval '-1 minute', interval '1 minute')) v (n, h, d, s)`,
	`INSERT INTO mailbox_folder (org_id, mailbox_id, folder, next_sync_at, failures, error)
		SELECT $1, m.id, f, now() + d, n, e FROM mailbox m, (VALUES
			('ahead', interval '1 hour', 0, ''), ('right', interval '1 minute', 0, ''),
			('fails', interval '50 minutes', 5, 'unreachable'), ('refused', interval '8 hours', 3, 'auth_refused')
		) v (f, d, n, e) WHERE m.org_id = $1 AND m.name = 'right'`,
	`INSERT INTO mailbox_silence (org_id, mailbox_id, server, since, detail, next_at) VALUES
		($1, gen_random_uuid(), 'imap', now() + interval '1 hour', '', now() + interval '61 minutes'),
		($1, gen_random_uuid(), 'smtp', now() - interval '1 hour', '', now() + interval '59 minutes')`,
	`INSERT INTO overview_state (org_id, counted_at, read_at, look_at) VALUES
		(gen_random_uuid(), now() + interval '1 hour', '-infinity', now() + interval '61 minutes'),
		(gen_random_uuid(), now() - interval '1 hour', '-infinity', now() + interval '1 hour')`,
	`INSERT INTO social_hold (platform, client_id, held_until, cause, since) VALUES
		('meta', 'ahead', now() + interval '70 minutes', 'throttled', now() + interval '1 hour'),
		('meta', 'broken', now() + interval '65 minutes', 'misconfigured', now() - interval '1 day'),
		('meta', 'right', now() + interval '50 minutes', 'throttled', now() - interval '1 minute')`,
	`INSERT INTO social_budget (family, client_id, next_at, claim_at) VALUES
		('meta', 'ahead', now() + interval '1 hour', now() + interval '1 hour'),
		('meta', 'right', now() + interval '1 second', now() + interval '20 seconds')`,
	`INSERT INTO variant_comparison (org_id, sequence_id, step, check_at) VALUES
		($1, gen_random_uuid(), 'ahead', now() + interval '2 hours'),
		($1, gen_random_uuid(), 'right', now() + interval '50 minutes')`,
	`INSERT INTO send_group (org_id, id, sequence_id, schedule, zone, wake_at) VALUES
		($1, 1, gen_random_uuid(), '', 'UTC', now() + interval '1 hour')`,
}

func open(t *testing.T) (*testkit.Database, *pgx.Conn) {
	t.Helper()
	db, org := testkit.DB(t), id.New()
	sql := testkit.Pgx(t, db.URL)
	if _, err := sql.Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Shop')`, org); err != nil {
		t.Fatal(err)
	}
	for _, insert := range rows {
		if _, err := sql.Exec(t.Context(), insert, args(insert, org)...); err != nil {
			t.Fatalf("%s: %v", insert, err)
		}
	}
	return db, sql
}

func args(sql string, org id.ID) []any {
	for i := range len(sql) - 1 {
		if sql[i:i+2] == "$1" {
			return []any{org}
		}
	}
	return nil
}

func TestWaitsThatRowsShowToBeTooLongEndAndOthersStay(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	ended, err := waits.EndLate(t.Context(), db.System, false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"webhook_health": 1, "mailbox": 1, "mailbox_folder": 1, "mailbox_silence": 1, "overview_state": 1,
		"social_hold": 2, "social_budget": 1, "variant_comparison": 1,
	}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
	if ended, err = waits.EndLate(t.Context(), db.System, false); err != nil || len(ended) > 0 {
		t.Errorf("ended again: %v, %v", ended, err)
	}
}

// Once the clock was set back, waits end that may be too long. What a server has asked for stays.
func TestAfterTheClockWasSetBackAllWaitsEndThatMayBeTooLong(t *testing.T) {
	t.Parallel()
	for name, evidence := range map[string]string{
		"reported": "", "a process": `INSERT INTO process (id, role, host, keys, primary_key, seen_at)
			VALUES (gen_random_uuid(), 'api', 'x', '{}', 1, now() + interval '1 hour')`,
		"a tick": `INSERT INTO tick (entry, tick, made_at) VALUES ('plans', now(), now() + interval '1 hour')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, sql := open(t)
			if _, err := sql.Exec(t.Context(), evidence); err != nil {
				t.Fatal(err)
			}
			ended, err := waits.EndLate(t.Context(), db.System, evidence == "")
			if err != nil {
				t.Fatal(err)
			}
			delete(ended, "process")
			delete(ended, "tick")
			want := map[string]int64{
				"webhook_health": 2, "mailbox": 1, "mailbox_folder": 3, "mailbox_silence": 2,
				"overview_state": 3, // one is of the org
				"social_hold":    3, "social_budget": 1, "variant_comparison": 2, "send_group": 1,
			}
			if diff := cmp.Diff(want, ended); diff != "" {
				t.Errorf("ended (-want +got):\n%s", diff)
			}
			var left int
			if err := sql.QueryRow(t.Context(), `SELECT
				(SELECT count(*) FROM webhook_health WHERE next_probe_at > now())
				+ (SELECT count(*) FROM mailbox_folder WHERE next_sync_at > now() + interval '1 minute'
					AND error <> 'auth_refused')
				+ (SELECT count(*) FROM social_hold WHERE held_until > now())
				+ (SELECT count(*) FROM send_group WHERE wake_at > now() + interval '1 minute')`).
				Scan(&left); err != nil || left > 0 {
				t.Errorf("%d waits are left, %v", left, err)
			}
		})
	}
}
