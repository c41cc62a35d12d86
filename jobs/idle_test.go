package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/aisweep"
	"github.com/funnelwork/funnelwork/jobs/contactindexsweep"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/leadfade"
	"github.com/funnelwork/funnelwork/jobs/mailboxdomains"
	"github.com/funnelwork/funnelwork/jobs/mailboxsweep"
	"github.com/funnelwork/funnelwork/jobs/plansweep"
	"github.com/funnelwork/funnelwork/jobs/sendingdomains"
	"github.com/funnelwork/funnelwork/jobs/webhookhealth"
)

// quietOrgs is a number of orgs in which nothing happens, and fewRows how many rows and index entries a search may read
// beside them.
const (
	quietOrgs = 1000
	fewRows   = 60
)

// quiet is a database with orgs in which nothing happens.
type quiet struct {
	*testing.T
	url string
	sql *pgx.Conn // reads counters only
}

func openQuiet(t *testing.T) *quiet {
	t.Helper()
	q := &quiet{T: t, url: testkit.DB(t).URL}
	q.sql = testkit.Pgx(t, q.url)
	writer, err := pgx.Connect(t.Context(), q.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`SET application_name = 'funnelwork quiet'`,
		`SET session_replication_role = replica`, // without triggers no row is updated, and so no index entry is dead
		`INSERT INTO org (id, name) SELECT gen_random_uuid(), 'Quiet' FROM generate_series(1, 1000)`,
		`INSERT INTO refolding (org_id, version, ended_at) SELECT id, 1000, now() FROM org`,
		`INSERT INTO subscription (org_id, plan_version)
			SELECT id, '` + entitlementsync.Standard().Version + `' FROM org`,
		`INSERT INTO overview_state (org_id, look_at, counted_at) SELECT id, now() + interval '1 day', now() FROM org`,
		`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT id, gen_random_uuid(), 'a@acme.example', 'a@acme.example', 'A', 'L', 'l', 'lead', now(), now() FROM org`,
		`INSERT INTO segment (org_id, id, key, name, kind, created_at)
			SELECT id, gen_random_uuid(), 'guests', 'Guests', 'static', now() FROM org`,
		`INSERT INTO segment_tally (org_id, segment_id, step) SELECT org_id, id, 1 FROM segment`,
		`INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
			SELECT id, gen_random_uuid(), 'https://acme.example', '{*}', '', now(), now() FROM org`,
		`INSERT INTO quota (org_id, feature, cap, used) SELECT id, 'client_orgs', 5, 1 FROM org`,
		`INSERT INTO stripe_subscription (org_id, stripe_id, live, status, plan, interval, price_id, item_id, quantity,
			overage_item_id, overage_price_id, overage_quantity, period_start, period_end, cancel_at_period_end,
			schedule_id, invoice_id, read_at)
		SELECT id, 'sub_' || id, true, 'active', 'growth', 'month', '', '', 1, '', '', 0, now(), now(), false, '', '',
			now() FROM org`,
		`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
			updated_at, health_at, domain_checked_at, spf, dkim, dmarc)
		SELECT id, gen_random_uuid(), 'Box', 'smtp', 'a@b.example', 'a@b.example', 'b.example', 'active', now(), now(),
			now() - interval '5 minutes', now() - interval '5 hours', 'pass', 'pass', 'pass' FROM org`,
		`INSERT INTO send_group (org_id, id, sequence_id, schedule, zone, wake_at)
			SELECT id, 1, gen_random_uuid(), '', 'UTC', now() + interval '1 day' FROM org`,
		`INSERT INTO variant_comparison (org_id, sequence_id, step, check_at)
			SELECT id, gen_random_uuid(), 'first', now() + interval '1 day' FROM org`,
		`ANALYZE org, refolding, subscription, overview_state, contact, segment, segment_tally, webhook_endpoint, quota,
			stripe_subscription, mailbox, send_group, variant_comparison`,
	} {
		if _, err := writer.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := writer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// reads returns how many rows and index entries call reads, in sessions of its own: a session that ends hands in its
// counters.
func (q *quiet) reads(call func(ctx context.Context, app, system *postgres.DB) error) int64 {
	q.Helper()
	before := q.counters()
	app, system := q.pool(postgres.App), q.pool(postgres.System)
	err := call(q.Context(), app, system)
	app.Close()
	system.Close()
	if err != nil {
		q.Error(err)
	}
	return q.counters() - before
}

func (q *quiet) pool(role string) *postgres.DB {
	q.Helper()
	db, err := postgres.Open(q.Context(), postgres.Options{URL: q.url, Role: role, MaxConns: 2, Name: "quiet"})
	if err != nil {
		q.Fatal(err)
	}
	return db
}

// counters returns how many rows and index entries all sessions have read, once those of the test have ended.
func (q *quiet) counters() (n int64) {
	q.Helper()
	for open := 1; open > 0; {
		if err := q.sql.QueryRow(q.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'funnelwork quiet'`).Scan(&open); err != nil {
			q.Fatal(err)
		}
	}
	if err := q.sql.QueryRow(q.Context(), `SELECT
		((SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
			+ (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::bigint`).
		Scan(&n); err != nil {
		q.Fatal(err)
	}
	return n
}

// A worker searches several times a second, and the sweeps of the timetable run up to six times a minute.
func TestSearchesForWorkReadNothingOfQuietOrgs(t *testing.T) {
	t.Parallel()
	q := openQuiet(t)
	if n := q.reads(func(ctx context.Context, _, system *postgres.DB) error {
		return system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM overview_state`, nil, new(int))
		})
	}); n < quietOrgs {
		t.Fatalf("the counters show %d rows of a read of %d", n, quietOrgs)
	}
	for name, search := range searches() {
		if n := q.reads(search); n > fewRows {
			t.Errorf("%s reads %d rows and index entries beside %d quiet orgs", name, n, quietOrgs)
		}
	}
	if n := q.one(`SELECT count(*) FROM job`); n != 0 {
		t.Errorf("%d jobs were added", n)
	}
}

// searches returns what looks for work without a request: the watches of workers, the sweeps, and the counts of some
// gauges.
func searches() map[string]func(ctx context.Context, app, system *postgres.DB) error {
	all := map[string]func(ctx context.Context, app, system *postgres.DB) error{
		"Overdrawn": func(ctx context.Context, _, system *postgres.DB) error {
			_, err := sync.New(billing.New(billing.Options{System: system})).Overdrawn(ctx)
			return err
		},
		"CountUnwell": func(ctx context.Context, _, system *postgres.DB) error {
			_, err := webhooks.CountUnwell(ctx, system)
			return err
		},
	}
	for i := range jobs.Watches(jobs.Deps{}) {
		all[fmt.Sprintf("watch %d of jobs.Watches", i)] = func(ctx context.Context, app, system *postgres.DB) error {
			return jobs.Watches(jobs.Deps{App: app, System: system})[i](ctx)
		}
	}
	for _, kind := range []string{
		plansweep.Kind.Name(), aisweep.Kind.Name(), contactindexsweep.Kind.Name(), leadfade.Kind.Name(),
		mailboxdomains.Kind.Name(), mailboxsweep.Kind.Name(), sendingdomains.Kind.Name(), webhookhealth.Kind.Name(),
	} {
		all[kind] = func(ctx context.Context, app, system *postgres.DB) error {
			for _, h := range jobs.All(jobs.Deps{App: app, System: system, Log: slog.New(slog.DiscardHandler)}) {
				if h.Kind == kind {
					return h.Call(ctx, &queue.Claimed{ID: id.New(), Kind: kind, Raw: []byte(`{}`)})
				}
			}
			return fmt.Errorf("%s is no job", kind)
		}
	}
	return all
}

func (q *quiet) one(sql string) (n int) {
	q.Helper()
	if err := q.sql.QueryRow(q.Context(), sql).Scan(&n); err != nil {
		q.Fatal(err)
	}
	return n
}
