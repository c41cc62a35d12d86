package webhookreplay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
)

// desk is an org with one webhook that subscribes to contact.created.
type desk struct {
	*testing.T
	db    *testkit.Database
	sql   *pgx.Conn // superuser
	hooks *webhooks.Service
	org   id.ID
	hook  id.ID
	job   webhookreplay.Job
}

func open(t *testing.T, pace webhookreplay.Pace) *desk {
	t.Helper()
	box := testkit.Box(t)
	d := &desk{T: t, db: testkit.DB(t), org: id.New(), hooks: &webhooks.Service{Box: box, Policy: outbound.Policy{}}}
	d.sql, d.job = testkit.Pgx(t, d.db.URL), webhookreplay.Job{Hooks: d.hooks, Pace: pace}
	d.tx(func(tx *postgres.Tx) error {
		v, _, err := d.hooks.Create(t.Context(), tx,
			webhooks.New{URL: "https://example.com/hook", Events: []string{"contact.created"}, Enabled: true})
		d.hook = v.ID
		return err
	})
	return d
}

func (d *desk) tx(fn func(*postgres.Tx) error) {
	d.Helper()
	if err := d.db.App.Tx(d.Context(), d.org, fn); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) exec(sql string, args ...any) {
	d.Helper()
	if _, err := d.sql.Exec(d.Context(), sql, args...); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
}

func (d *desk) one(sql string) (n int) {
	d.Helper()
	if err := d.sql.QueryRow(d.Context(), sql).Scan(&n); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
	return n
}

// happened writes n events of a type, a second apart, the last one ago before now.
func (d *desk) happened(org id.ID, kind string, n int, ago time.Duration) {
	d.Helper()
	d.exec(`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
		SELECT $1, uuidv7_at(at), n, $2, 'system', '{}', at
		FROM (SELECT n, now() - $4::interval - ($3::int - n) * interval '1 second' AS at
		FROM generate_series(1, $3::int) n) e`, org, kind, n, ago)
}

func (d *desk) replay(r webhooks.Range) (made webhooks.Replay) {
	d.Helper()
	d.tx(func(tx *postgres.Tx) (err error) {
		made, err = d.hooks.Replay(d.Context(), tx, d.hook, r)
		return err
	})
	return made
}

func (d *desk) read(r webhooks.Replay) webhooks.Replay {
	d.Helper()
	d.tx(func(tx *postgres.Tx) (err error) {
		r, err = d.hooks.GetReplay(d.Context(), tx, d.hook, *r.ID)
		return err
	})
	return r
}

// tried records a first attempt for all waiting deliveries.
func (d *desk) tried() {
	d.Helper()
	d.exec("UPDATE webhook_delivery SET status = 'delivered' WHERE status = 'pending'")
}

var errKilled = errors.New("the worker was killed")

// step runs the job once, optionally killed before its commit, and reports whether it enqueued another step.
func (d *desk) step(r webhooks.Replay, killed bool) (more bool) {
	d.Helper()
	err := d.db.App.Tx(d.Context(), d.org, func(tx *postgres.Tx) error {
		run := &queue.Run[webhookreplay.Args]{Claimed: &queue.Claimed{}, Args: webhookreplay.Args{Replay: *r.ID}}
		if err := d.job.Work(d.Context(), tx, run); err != nil {
			return err
		}
		if err := tx.Flush(d.Context()); err != nil {
			return err
		}
		if killed {
			return errKilled
		}
		return nil
	})
	if err != nil && !errors.Is(err, errKilled) {
		d.Fatal(err)
	}
	next := d.one("WITH gone AS (DELETE FROM job WHERE kind = 'webhook.replay' RETURNING 1) SELECT count(*) FROM gone")
	if next > 1 || killed && next > 0 {
		d.Fatalf("%d next steps were asked for", next)
	}
	return next == 1 || killed
}

func TestTenThousandEventsAreEachSentOnceHoweverOftenTheWalkIsBrokenOff(t *testing.T) {
	t.Parallel()
	pace := webhookreplay.Pace{Open: 600}
	d := open(t, pace)
	d.happened(d.org, "contact.created", 10_000, time.Hour)
	d.happened(d.org, "contact.created", 50, 0)            // after the range
	d.happened(d.org, "contact.updated", 500, 2*time.Hour) // not subscribed
	d.happened(id.New(), "contact.created", 500, 2*time.Hour)
	r := d.replay(webhooks.Range{From: time.Now().Add(-24 * time.Hour), To: time.Now().Add(-30 * time.Minute)})
	if r.Count != 10_000 || r.Status != "queued" {
		t.Fatalf("%+v", r)
	}
	steps := 0
	for n := 0; ; n++ {
		more := d.step(r, n%3 == 1)
		if waiting := d.one("SELECT count(*) FROM webhook_delivery WHERE status = 'pending'"); waiting > pace.Open {
			t.Fatalf("%d wait, at most %d may", waiting, pace.Open)
		}
		if n%2 == 1 {
			d.tried()
		}
		if steps++; !more {
			break
		}
		if steps > 200 {
			t.Fatal("it does not end")
		}
	}
	for range 2 { // deliveries with finished jobs
		if d.step(r, false) {
			t.Error("a walk that is over goes on")
		}
	}
	for what, c := range map[string]struct {
		sql  string
		want int
	}{
		"deliveries": {"SELECT count(*) FROM webhook_delivery WHERE trigger = 'replay' AND replay_id IS " +
			"NOT NULL AND event_type = 'contact.created'", 10_000},
		"events sent": {"SELECT count(DISTINCT event_id) FROM webhook_delivery", 10_000},
		"jobs in their line": {"SELECT count(*) FROM job j JOIN webhook_delivery d ON d.org_id = j.org_id AND d.id " +
			"= j.id AND d.endpoint_id = j.line WHERE j.kind = 'webhook.deliver' AND j.lane = 'webhooks' AND " +
			"j.max_attempts = 10 AND j.due AND j.wake_at IS NULL", 10_000},
		"of another's": {
			"SELECT count(*) FROM webhook_delivery d JOIN event e ON e.id = d.event_id WHERE e.org_id <> d.org_id", 0,
		},
		"outside the range": {"SELECT count(*) FROM webhook_delivery d JOIN event e ON e.id = d.event_id WHERE " +
			"e.created_at > now() - interval '30 minutes'", 0},
	} {
		if got := d.one(c.sql); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
	got := d.read(r)
	if got.Status != "completed" || got.CompletedAt == nil {
		t.Errorf("status %s, completed_at %v; want completed and a time", got.Status, got.CompletedAt)
	}
	if n := got.Deliveries.Delivered + got.Deliveries.Pending; got.Sent != 10_000 || n != 10_000 {
		t.Errorf("%d sent, %d delivered or pending; want 10000 each", got.Sent, n)
	}
	t.Logf("%d steps", steps)
}

func TestAReplayStopsWhenItsWebhookIsSwitchedOffOrArchivedAndNotBefore(t *testing.T) {
	t.Parallel()
	archive := func(d *desk) {
		d.tx(func(tx *postgres.Tx) error {
			return d.hooks.Archive(context.WithoutCancel(d.Context()), tx, d.hook, func(webhooks.Versioned) error {
				return nil
			})
		})
	}
	off := func(d *desk) { d.exec("UPDATE webhook_endpoint SET enabled = false, disabled_reason = 'gone'") }
	for name, c := range map[string]struct {
		before, meanwhile func(*desk)
		status            string
		sent              int64
	}{
		"switched off meanwhile": {nil, off, "stopped", 10},
		"archived meanwhile":     {nil, archive, "stopped", 10},
		"off from the start":     {off, func(*desk) {}, "completed", 25},
		"off, then archived":     {off, archive, "stopped", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, webhookreplay.Pace{Open: 10})
			d.happened(d.org, "contact.created", 25, 0)
			if c.before != nil {
				c.before(d)
			}
			r := d.replay(webhooks.Range{From: time.Now().Add(-time.Hour), To: time.Now()})
			d.step(r, false)
			if got := d.read(r); got.Status != "running" || got.Sent != 10 {
				t.Errorf("%+v", got)
			}
			c.meanwhile(d)
			for range 3 {
				d.tried()
				d.step(r, false)
			}
			got := d.read(r)
			if got.Status != c.status || got.Sent != c.sent {
				t.Errorf("status %s, %d sent; want %s, %d", got.Status, got.Sent, c.status, c.sent)
			}
			if got.CompletedAt == nil {
				t.Error("no completed_at")
			}
		})
	}
}

func TestOnlyWhatFailedIsSentAgain(t *testing.T) {
	t.Parallel()
	d := open(t, webhookreplay.Pace{Open: 100})
	statuses := []string{"pending", "delivered", "failed", "exhausted", "discarded"}
	d.happened(d.org, "contact.created", 50, time.Minute)
	d.exec(`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, created_at, updated_at)
		SELECT org_id, uuidv7_at(created_at), $1, id, type, ($2::text[])[1 + seq % 5], created_at, created_at
		FROM event`, d.hook, statuses)
	// Half of the exhausted deliveries have reached the endpoint meanwhile, or are in flight.
	d.exec(`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, trigger, status,
		created_at, updated_at)
		SELECT d.org_id, uuidv7_at(now()), d.endpoint_id, d.event_id, d.event_type, 'redelivery', CASE
		WHEN e.seq % 4 < 2 THEN 'delivered' ELSE 'pending' END, now(), now()
		FROM webhook_delivery d JOIN event e ON e.id = d.event_id WHERE d.status = 'exhausted' AND e.seq % 2 = 0`)
	want := d.one("SELECT count(*) FROM event WHERE seq % 5 IN (2, 4) OR seq % 5 = 3 AND seq % 2 = 1")
	r := d.replay(webhooks.Range{From: time.Now().Add(-time.Hour), To: time.Now(), OnlyFailed: true})
	if int(r.Count) != want {
		t.Errorf("%d counted, want %d", r.Count, want)
	}
	if d.step(r, false) {
		t.Error("one step is enough")
	}
	if got := d.read(r); int(got.Sent) != want || got.Status != "completed" {
		t.Errorf("%+v, want %d", got, want)
	}
	if again := d.replay(webhooks.Range{
		From: time.Now().Add(-time.Hour), To: time.Now(),
		OnlyFailed: true,
	}); again.Count != 0 {
		t.Errorf("%d are sent again while they are on their way", again.Count)
	}
}

func TestAnEndpointsReplaysGoOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := open(t, webhookreplay.Pace{Open: 10})
	d.happened(d.org, "contact.created", 15, 0)
	day := webhooks.Range{From: time.Now().Add(-time.Hour), To: time.Now()}
	first, second := d.replay(day), d.replay(day)
	d.step(first, false)
	if !d.step(second, false) {
		t.Error("the second replay is over beside the first")
	}
	if got := d.read(second); got.Sent != 0 || got.Status != "queued" {
		t.Errorf("beside the first, the second is %s with %d sent; want queued with 0", got.Status, got.Sent)
	}
	if d.step(first, false); d.read(first).Sent != 10 {
		t.Errorf("more is made while all wait: %+v", d.read(first))
	}
	d.tried()
	if d.step(first, false) {
		t.Error("the first is not over")
	}
	for d.step(second, false) {
		d.tried()
	}
	if got := d.read(second); got.Sent != 15 || got.Status != "completed" {
		t.Errorf("%+v", got)
	}
}
