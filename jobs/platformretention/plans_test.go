package platformretention_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

// install is a database with orgs, and a retention job.
type install struct {
	*testing.T
	sql  *pgx.Conn
	work func(context.Context) error
}

func newInstall(t *testing.T, keep platformretention.Keep) *install {
	t.Helper()
	db := testkit.DB(t)
	job := platformretention.Job{System: db.System, Log: testkit.Log(t), Keep: keep}.Handler()
	return &install{t, testkit.Pgx(t, db.URL), func(ctx context.Context) error {
		return job.Call(ctx, &queue.Claimed{ID: id.New(), Kind: job.Kind, Raw: []byte(`{}`)})
	}}
}

func (i *install) exec(sql string, args ...any) {
	i.Helper()
	if _, err := i.sql.Exec(i.Context(), sql, args...); err != nil {
		i.Fatalf("%s: %v", sql, err)
	}
}

func (i *install) run() {
	i.Helper()
	if err := i.work(i.Context()); err != nil {
		i.Fatal(err)
	}
}

// org creates an org with a plan.
func (i *install) org(name, plan, status string) {
	i.Helper()
	i.exec(`INSERT INTO org (id, name) VALUES (gen_random_uuid(), $1)`, name)
	i.subscribe(name, plan, status)
}

func (i *install) subscribe(name, plan, status string) {
	i.Helper()
	i.exec(`UPDATE subscription SET plan = $2, status = $3 WHERE org_id = (SELECT id FROM org WHERE name = $1)`, name,
		plan, status)
}

// tables is the tables that fill fills, with the column that has a row's time.
func tables() map[string]string {
	return map[string]string{
		"email_content": "created_at", "message_raw": "created_at", "message": "received_at",
		"thread": "last_message_at", "event": "created_at", "webhook_delivery": "created_at",
		"webhook_attempt": "started_at",
	}
}

// fill gives each org a row of each table for each age in days. One of the days has a partition, the others have none.
func (i *install) fill(ages ...int) {
	i.Helper()
	for _, table := range []string{"event", "webhook_delivery", "webhook_attempt"} {
		i.exec(`DO $$ BEGIN EXECUTE format('CREATE TABLE %I PARTITION OF ` + table + ` FOR VALUES FROM (%L) TO (%L)',
			'` + table + `_' || to_char(now() AT TIME ZONE 'UTC' - interval '10 days', 'YYYYMMDD'),
			uuid_floor(date_trunc('day', now(), 'UTC') - interval '10 days'),
			uuid_floor(date_trunc('day', now(), 'UTC') - interval '9 days')); END $$`)
	}
	for _, sql := range []string{
		`INSERT INTO email_content (org_id, email_id, from_email, from_name, reply_to, to_name, html, text, in_reply_to,
			refs, list_unsubscribe, dated_at, attachments, created_at)
			SELECT o.id, uuidv7_at(at), '', '', '', '', '', '', '', '{}', '{}', at, 1, at`,
		`INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at)
			SELECT o.id, uuidv7_at(at), o.id, uuid_send(gen_random_uuid()), 'http', at`,
		`INSERT INTO message_raw (org_id, id, raw, created_at) SELECT o.id, uuidv7_at(at), '', at`,
		`INSERT INTO thread (org_id, id, mailbox_id, subject, incoming, unread, last_message_at, created_at)
			SELECT o.id, uuidv7_at(at), o.id, '', 1, false, at, at`,
		`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
			SELECT o.id, uuidv7_at(at), 1, 'contact.created', 'system', '{}', at`,
		`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
			SELECT o.id, uuidv7_at(at), o.id, o.id, 'contact.created', at, at`,
		`INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, started_at)
			SELECT o.id, uuidv7_at(at), o.id, 1, 'event', '{}', at`,
	} {
		i.exec(sql+`
			FROM org o, unnest($1::int[]) age, LATERAL (SELECT now() - age * interval '24 hours' AS at) a`, ages)
	}
	i.exec(`INSERT INTO email_attachment (org_id, email_id, n, name, type, content)
		SELECT org_id, email_id, 1, '', '', '' FROM email_content`)
}

// kept returns the ages of the rows of a table, by org.
func (i *install) kept(table string) map[string]string {
	i.Helper()
	rows, err := i.sql.Query(i.Context(), `SELECT o.name, string_agg(t.age::text, ' ' ORDER BY t.age) FROM org o
		LEFT JOIN (SELECT org_id, extract(day FROM now() - `+tables()[table]+`)::int AS age FROM `+table+`) t
			ON t.org_id = o.id GROUP BY o.name`)
	if err != nil {
		i.Fatal(err)
	}
	out := map[string]string{}
	var name string
	var ages *string
	if _, err := pgx.ForEachRow(rows, []any{&name, &ages}, func() error {
		out[name] = ""
		if ages != nil {
			out[name] = *ages
		}
		return nil
	}); err != nil {
		i.Fatal(err)
	}
	return out
}

func (i *install) want(table string, want map[string]string) {
	i.Helper()
	if diff := cmp.Diff(want, i.kept(table)); diff != "" {
		i.Errorf("%s (-want +got):\n%s", table, diff)
	}
}

func (i *install) count(sql string) (n int) {
	i.Helper()
	if err := i.sql.QueryRow(i.Context(), sql).Scan(&n); err != nil {
		i.Fatalf("%s: %v", sql, err)
	}
	return n
}

func TestEachPlanKeepsItsDays(t *testing.T) {
	t.Parallel()
	i := newInstall(t, platformretention.Keep{
		Mail:       days(t, "365,solo_starter=90,agency_growth=60,free=30"),
		Attempts:   days(t, "31,solo_starter=7,free=7"),
		Events:     days(t, "60,solo_starter=31,agency_growth=40"),
		Deliveries: days(t, "60,solo_starter=31,agency_growth=40"),
	})
	i.org("pro", "solo_pro", "active")
	i.org("starter", "solo_starter", "active")
	i.org("lapsed", "solo_pro", "canceled")
	i.org("agency", "agency_growth", "active")
	i.org("trial", "trial", "trialing")
	i.exec(`INSERT INTO org (id, name, parent_org_id)
		SELECT gen_random_uuid(), 'client', id FROM org WHERE name = 'agency'`)
	i.subscribe("client", "client", "active")
	i.fill(5, 10, 35, 45, 70, 100, 400)
	for range 2 { // must be safe to repeat
		i.run()
		const all, short, agency, free = "5 10 35 45 70 100", "5 10 35 45 70", "5 10 35 45", "5 10"
		mail := map[string]string{
			"pro": all, "trial": all, "starter": short, "agency": agency, "client": agency, "lapsed": free,
		}
		i.want("email_content", mail)
		i.want("message", mail)
		i.want("thread", mail)
		mail["pro"], mail["trial"] = short, short // 90 days at most
		i.want("message_raw", mail)
		events := map[string]string{
			"pro": "5 10 35 45", "trial": "5 10 35 45", "starter": "5 10", "agency": "5 10 35", "client": "5 10 35",
			"lapsed": "5 10 35 45",
		}
		i.want("event", events)
		i.want("webhook_delivery", events)
		i.want("webhook_attempt", map[string]string{
			"pro": "5 10", "trial": "5 10", "starter": "5", "agency": "5 10", "client": "5 10", "lapsed": "5",
		})
	}
	if n := i.count(`SELECT count(*) FROM email_attachment a FULL JOIN email_content c USING (org_id, email_id)
		WHERE a.n IS NULL OR c.attachments IS NULL`); n != 0 {
		t.Errorf("%d contents or attachments are left alone", n)
	}
}

func TestAnOrgThatChangesItsPlanHasTheDaysOfTheNewOne(t *testing.T) {
	t.Parallel()
	i := newInstall(t, platformretention.Keep{Mail: days(t, "365,solo_starter=90,free=30")})
	i.org("down", "solo_pro", "active")
	i.org("up", "solo_starter", "active")
	i.fill(20, 45, 70, 100)
	i.run()
	i.want("message", map[string]string{"down": "20 45 70 100", "up": "20 45 70"})
	i.subscribe("down", "solo_starter", "active")
	i.subscribe("up", "solo_pro", "active")
	i.exec(`UPDATE message SET received_at = received_at - interval '40 days'`)
	i.exec(`UPDATE message SET id = uuidv7_at(received_at)`)
	i.run()
	i.want("message", map[string]string{"down": "60 85", "up": "60 85 110"})
	i.subscribe("down", "solo_starter", "past_due") // in its grace
	i.run()
	i.want("message", map[string]string{"down": "60 85", "up": "60 85 110"})
	i.exec(`UPDATE subscription SET past_due_since = now() - interval '60 days' WHERE status = 'past_due'`)
	i.run()
	i.want("message", map[string]string{"down": "", "up": "60 85 110"})
}

// The backend of a batch is killed. What is gone is what was committed, and the next run finds the rest.
func TestARunThatIsKilledBetweenBatchesIsContinuedByTheNextOne(t *testing.T) {
	t.Parallel()
	const rows, batch = 12_000, 5000
	i := newInstall(t, platformretention.Keep{Mail: days(t, "365,solo_starter=90")})
	i.org("starter", "solo_starter", "active")
	i.org("pro", "solo_pro", "active")
	i.exec(`INSERT INTO thread (org_id, id, mailbox_id, subject, incoming, unread, last_message_at, created_at)
		SELECT o.id, uuidv7_at(now() - interval '100 days'), o.id, '', 1, false, now() - interval '100 days', now()
		FROM org o, generate_series(1, $1)`, rows)
	i.exec(`CREATE SEQUENCE deleted`)
	i.exec(`CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		IF nextval('deleted') = 7000 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
		RETURN OLD; END $$`)
	i.exec(`CREATE TRIGGER kill BEFORE DELETE ON thread FOR EACH ROW EXECUTE FUNCTION kill()`)
	if err := i.work(t.Context()); err == nil {
		t.Fatal("the run that was killed succeeded")
	}
	left := func(org string) int {
		return i.count(`SELECT count(*) FROM thread t JOIN org o ON o.id = t.org_id WHERE o.name = '` + org + `'`)
	}
	if n := i.count(`SELECT last_value FROM deleted`); n < 7000 || n >= 2*batch {
		t.Errorf("it was killed after %d rows, want the second batch", n)
	}
	if n := left("starter"); n != rows-batch {
		t.Errorf("%d are left after the kill, want %d", n, rows-batch)
	}
	i.run()
	if n := left("starter"); n != 0 {
		t.Errorf("%d are left at the end", n)
	}
	if n := left("pro"); n != rows {
		t.Errorf("%d of %d of another org are left", n, rows)
	}
}

func TestAnEmailHasItsContentUntilItIsSentAndThenForItsTime(t *testing.T) {
	t.Parallel()
	i := newInstall(t, platformretention.Keep{Mail: days(t, "100,solo_starter=30")})
	i.org("pro", "solo_pro", "active")
	i.org("starter", "solo_starter", "active")
	i.fill(50, 51, 52, 200, 201, 202)
	i.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, purpose, subject, to_email, to_domain, message_id,
			message_hash, status, sent_at, due_at, created_at, updated_at)
		SELECT org_id, email_id, org_id, email_id, 'personal', '', '', '', email_id::text, uuid_send(email_id),
			(ARRAY['scheduled', 'sent', 'sent'])[1 + age % 50],
			(ARRAY[NULL, now() - interval '1 day', created_at])[1 + age % 50], now(), created_at, created_at
		FROM email_content, LATERAL (SELECT extract(day FROM now() - created_at)::int AS age) a`)
	i.run()
	// Scheduled, sent yesterday, and, of those sent when they were written, the ones within their time.
	i.want("email_content", map[string]string{"pro": "50 51 52 200 201", "starter": "50 51 200 201"})
	if n := i.count(`SELECT count(*) FROM email_attachment`); n != 9 {
		t.Errorf("%d attachments are left, want 9", n)
	}
}
