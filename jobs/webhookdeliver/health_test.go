package webhookdeliver_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookhealth"
	"github.com/funnelwork/funnelwork/jobs/webhooknotify"
)

// pass simulates the passage of time for the endpoint's health by moving its timestamps into the past.
func (b *bench) pass(d time.Duration) {
	b.Helper()
	b.sql(`UPDATE webhook_health SET failing_since = failing_since - $1::interval, streak_from = streak_from -
		$1::interval,
		opened_at = opened_at - $1::interval, next_probe_at = next_probe_at - $1::interval`, d)
}

// letThrough makes a delivery's job due and gives it a slot, whatever the state of its concurrency key. It returns
// false if the job is gone.
func (b *bench) letThrough(delivery id.ID) bool {
	b.Helper()
	b.sql("UPDATE job_line SET held_until = NULL")
	return b.one("WITH due AS (UPDATE job SET run_at = now(), wake_at = now(), state = 'ready' WHERE id = $1 "+
		"RETURNING 1) SELECT count(*) FROM due", delivery) == 1
}

func (b *bench) sql(text string, args ...any) {
	b.Helper()
	if _, err := b.super.Exec(b.Context(), text, args...); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) health() (h webhooks.Health) {
	b.Helper()
	b.tx(func(tx *postgres.Tx) (err error) {
		h, err = b.hooks.HealthOf(b.Context(), tx, b.endpoint.ID)
		return err
	})
	return h
}

func (b *bench) received() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.got)
}

// flaky returns a bench with a receiver that responds with a variable status.
func flaky(t *testing.T, status int) (*bench, *atomic.Int32) {
	var now atomic.Int32
	now.Store(int32(status))
	return begin(t, func(w http.ResponseWriter, _ *http.Request) {
		if now.Load() == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "7200")
		}
		w.WriteHeader(int(now.Load()))
	}), &now
}

// opened returns a bench with a circuit opened by five failures.
func opened(t *testing.T) (*bench, *atomic.Int32) {
	b, status := flaky(t, 500)
	for range 5 {
		if err := b.run(t.Context(), b.announce()); err == nil {
			t.Fatal("delivered")
		}
	}
	h := b.health()
	if !h.Open() {
		t.Fatalf("after five failures the circuit is closed: %+v", h)
	}
	if h.Streak != 5 || h.FailedEvents != 5 {
		t.Fatalf("after five failures: streak %d, %d failed events; want 5, 5", h.Streak, h.FailedEvents)
	}
	if n := b.one("SELECT count(*) FROM job_line WHERE id = $1 AND probing AND held_until BETWEEN now() + interval "+
		"'15 seconds' AND now() + interval '30 seconds'", b.endpoint.ID); n != 1 {
		t.Fatal("the line is not held")
	}
	return b, status
}

func TestAnOpenCircuitLetsOneProbeThroughPerHalfMinuteAndSpendsNoTry(t *testing.T) {
	t.Parallel()
	b, status := opened(t)
	waiting := make([]id.ID, 20)
	for i := range waiting {
		waiting[i] = b.announce()
	}
	sent := b.received()
	for round := range 4 {
		for _, d := range waiting { // before the 30 s are over
			if err := b.run(t.Context(), d); err == nil {
				t.Fatal("delivered")
			} else if in, ok := queue.SnoozeOf(err); !ok {
				t.Fatalf("round %d: the job does not wait: %v", round, err)
			} else if in <= 0 || in > webhooks.ProbeEvery+time.Second {
				t.Fatalf("round %d: the job waits %s", round, in)
			}
		}
		if n := b.received() - sent; n != round {
			t.Fatalf("round %d: %d requests, want %d probes", round, n, round)
		}
		b.pass(webhooks.ProbeEvery)
		var all sync.WaitGroup // twenty workers at once: one probes
		for _, d := range waiting {
			all.Go(func() { b.work(d) })
		}
		all.Wait()
		if n := b.received() - sent; n != round+1 {
			t.Fatalf("round %d: %d requests, want %d probes", round, n, round+1)
		}
	}
	probes := 0
	for _, d := range b.deliveries() {
		if d.Status == webhooks.Delivered || d.Status == webhooks.Exhausted {
			t.Errorf("%+v", d)
		}
		for _, a := range d.Attempts {
			if a.Trigger != "probe" {
				continue
			}
			probes++
			if d.AttemptCount != 0 || a.Number != 1 {
				t.Errorf("a probe counts: %d attempts, number %d; want 0, 1", d.AttemptCount, a.Number)
			}
			if *a.StatusCode != 500 || d.Status != webhooks.Failed {
				t.Errorf("after a probe: status code %d, status %s; want 500, failed", *a.StatusCode, d.Status)
			}
			if d.NextAttemptAt == nil {
				t.Error("after a probe no attempt is planned")
			}
		}
	}
	if n := b.one("SELECT count(*) FROM job WHERE attempt > 0"); probes != 4 || n != 5 {
		t.Errorf("%d probes in the log, want 4; %d jobs have spent a try, want the first 5", probes, n)
	}

	status.Store(200)
	b.pass(webhooks.ProbeEvery)
	for range 2 {
		for _, d := range waiting {
			b.work(d)
		}
	}
	if n := b.one("SELECT count(*) FROM webhook_delivery WHERE status = 'delivered' AND attempts = 1"); n !=
		len(waiting) {
		t.Errorf("%d delivered by one try each, want %d", n, len(waiting))
	}
	if h := b.health(); h != (webhooks.Health{}) ||
		b.one("SELECT count(*) FROM job_line WHERE probing OR held_until IS NOT NULL") != 0 {
		t.Errorf("after a success: %+v", h)
	}
}

// work is run for a delivery that may have no job, and for concurrent use.
func (b *bench) work(delivery id.ID) {
	b.Helper()
	if !b.letThrough(delivery) {
		return
	}
	c, err := b.ledger.Claim(b.Context(), b.org, delivery)
	if err != nil {
		if !errors.Is(err, store.ErrMissed) { // the circuit is open again
			b.Error(err)
		}
		return
	}
	v := store.Completion{Outcome: store.Done}
	if worked := b.job.Handler().Call(b.Context(), c); worked != nil {
		in, snoozed := queue.SnoozeOf(worked)
		if v = (store.Completion{Outcome: store.Snoozed, In: in}); !snoozed {
			b.Errorf("a try was spent: %v", worked)
		}
	}
	if err := b.ledger.Finish(b.Context(), c, v); err != nil {
		b.Error(err)
	}
}

func (b *bench) one(sql string, args ...any) (n int) {
	b.Helper()
	if err := b.super.QueryRow(b.Context(), sql, args...).Scan(&n); err != nil {
		b.Error(err)
	}
	return n
}

func TestAReceiverThatAsksForTimeSlowsTheEndpointAndNotJustTheEvent(t *testing.T) {
	t.Parallel()
	b, status := flaky(t, http.StatusServiceUnavailable)
	first, second := b.announce(), b.announce()
	err := b.run(t.Context(), first)
	in, ok := queue.RetryOf(err)
	if !ok {
		t.Errorf("the event has no next attempt: %v", err)
	}
	if in < 2*time.Hour-time.Minute || in > 2*time.Hour*6/5 {
		t.Errorf("the next attempt is in %s, want 2 h to 2 h 24 min", in)
	}
	in, ok = queue.SnoozeOf(b.run(t.Context(), second))
	if !ok {
		t.Error("the other event does not wait")
	}
	if in < 2*time.Hour-time.Minute || in > 2*time.Hour {
		t.Errorf("the other event waits %s, want 2 h", in)
	}
	if b.received() != 1 {
		t.Errorf("%d requests", b.received())
	}
	status.Store(204)
	b.pass(2 * time.Hour)
	if err := b.run(t.Context(), second); err != nil {
		t.Error(err)
	}
	if h := b.health(); h.Open() || b.delivery(second).Attempts[0].Trigger != "probe" {
		t.Errorf("%+v", h)
	}
}

func TestWhatAPersonAsksForIsSentThroughAnOpenCircuit(t *testing.T) {
	t.Parallel()
	b, status := opened(t)
	e, _ := events.Lookup("deal.won")
	var d webhooks.Delivery
	b.tx(func(tx *postgres.Tx) (err error) {
		d, err = b.hooks.SendTest(t.Context(), tx, b.endpoint.ID, e)
		return err
	})
	sent := b.received()
	if err := b.run(t.Context(), d.ID); err != nil {
		t.Error(err)
	}
	if n := b.received() - sent; n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	if status := b.delivery(d.ID).Status; status != webhooks.Exhausted {
		t.Errorf("status %s, want exhausted", status)
	}
	status.Store(200)
	b.tx(func(tx *postgres.Tx) (err error) {
		d, err = b.hooks.SendTest(t.Context(), tx, b.endpoint.ID, e)
		return err
	})
	if err := b.run(t.Context(), d.ID); err != nil || b.health().Open() {
		t.Errorf("a test that arrives closes the circuit: %v, %+v", err, b.health())
	}
}

func TestADeliveryThatWasKeptBackForLongerThanItsPlanIsEndedByItsNextProbe(t *testing.T) {
	t.Parallel()
	b, _ := opened(t)
	which := b.announce()
	b.sql("UPDATE webhook_delivery SET created_at = created_at - interval '92 hours' WHERE id = $1", which)
	b.pass(92 * time.Hour)
	if err := b.run(t.Context(), which); !queue.IsDrop(err) {
		t.Errorf("%v", err)
	}
	if d := b.delivery(which); d.Status != webhooks.Exhausted || d.NextAttemptAt != nil {
		t.Errorf("%+v", d)
	}
}

func TestAnEndpointThatWasMendedByAPersonIsAsGoodAsNew(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]webhooks.Patch{
		"another URL":     {URL: wire.Some("http://127.0.0.1:9/")},
		"switched off":    {Enabled: wire.Some(false)},
		"its description": {Description: wire.Some("x")},
	} {
		b, _ := opened(t)
		b.tx(func(tx *postgres.Tx) error {
			_, err := b.hooks.Update(t.Context(), tx, b.endpoint.ID, p, func(webhooks.Versioned) error { return nil })
			return err
		})
		held := b.one("SELECT count(*) FROM job_line WHERE probing") == 1
		if got := b.health(); (got == webhooks.Health{}) != (name != "its description") ||
			held != (name == "its description") {
			t.Errorf("%s: %+v, held %v", name, got, held)
		}
	}
}

// staff adds people to the org; their addresses are their roles.
func (b *bench) staff() {
	b.Helper()
	b.sql("INSERT INTO org (id, name) VALUES ($1, 'Shop')", b.org)
	for _, role := range []string{"owner", "admin", "member", "viewer", "gone"} {
		who := id.New()
		b.sql("INSERT INTO app_user (id, email, email_folded, password_hash, first_name, last_name) VALUES ($1, "+
			"$2, $2, '', 'A', 'B')", who, role+"@example.com")
		removed, is := "NULL", role
		if role == "gone" {
			removed, is = "now()", "owner"
		}
		b.sql("INSERT INTO member (org_id, user_id, role, removed_at) VALUES ($1, $2, $3, "+removed+")", b.org, who, is)
	}
}

// tell runs the jobs that write mails and returns the new mails as "recipient: subject".
func (b *bench) tell() (mails []string) {
	b.Helper()
	var due []id.ID
	rows, _ := b.super.Query(b.Context(), "SELECT id FROM job WHERE kind = 'webhook.tell'")
	for rows.Next() {
		var one id.ID
		if err := rows.Scan(&one); err != nil {
			b.Fatal(err)
		}
		due = append(due, one)
	}
	h := webhooknotify.Job{Box: b.hooks.Box, Hooks: b.hooks}.Handler()
	for _, one := range due {
		b.tx(func(tx *postgres.Tx) error {
			c, err := b.ledger.Lock(b.Context(), tx, one)
			if err != nil {
				return err
			}
			if err := h.Tx(b.Context(), tx, c); err != nil {
				return err
			}
			return b.ledger.Settle(b.Context(), tx, c, store.Completion{Outcome: store.Done})
		})
	}
	rows, _ = b.super.Query(b.Context(),
		"WITH m AS (DELETE FROM system_mail RETURNING recipient, subject) SELECT recipient || ': ' || subject FROM "+
			"m ORDER BY 1")
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			b.Fatal(err)
		}
		mails = append(mails, one)
	}
	return mails
}

func (b *bench) review() {
	b.Helper()
	j := webhookhealth.Job{App: b.db.App, System: b.db.System, Hooks: b.hooks, Log: testkit.Log(b)}
	if err := j.Work(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) reason() string {
	b.Helper()
	var v webhooks.Versioned
	b.tx(func(tx *postgres.Tx) (err error) {
		v, err = b.hooks.Get(b.Context(), tx, b.endpoint.ID, false)
		return err
	})
	if v.Enabled {
		return "enabled"
	}
	return *v.DisabledReason
}

func TestA410IsToldToOwnersAndAdminsByMail(t *testing.T) {
	t.Parallel()
	b, _ := flaky(t, http.StatusGone)
	b.staff()
	if err := b.run(t.Context(), b.announce()); err != nil {
		t.Fatal(err)
	}
	got := b.tell()
	if len(got) != 2 {
		t.Fatalf("%d mails, want 2: %q", len(got), got)
	}
	for i, prefix := range []string{"admin@example.com: Your webhook to 127.0.0.1:", "owner@example.com: "} {
		if !strings.HasPrefix(got[i], prefix) {
			t.Errorf("mail %d is %q, want prefix %q", i, got[i], prefix)
		}
	}
	if !strings.HasSuffix(got[1], " was disabled") {
		t.Errorf("the owner's mail is %q", got[1])
	}
	if n := b.one("SELECT count(*) FROM job WHERE kind = 'mail.system'"); n != 2 {
		t.Errorf("%d mails are on their way", n)
	}
}

func TestFiveDaysOfOnlyFailuresDisableAnEndpointAfterTwoWarnings(t *testing.T) {
	t.Parallel()
	b, status := flaky(t, http.StatusNotFound) // a refusal does not open the circuit
	b.staff()
	var other webhooks.Versioned
	b.tx(func(tx *postgres.Tx) (err error) {
		other, _, err = b.hooks.Create(t.Context(), tx,
			webhooks.New{URL: "https://example.com/", Events: []string{"webhook.disabled"}, Enabled: true})
		return err
	})
	fail := func(events int) {
		for range events {
			if err := b.run(t.Context(), b.announce()); err == nil {
				t.Fatal("delivered")
			}
		}
	}
	expect := func(when string, mails int, subject, state string) {
		t.Helper()
		b.review()
		b.review() // repeated: no second mail
		got := b.tell()
		if len(got) != mails {
			t.Errorf("%s: %d mails, want %d: %q", when, len(got), mails, got)
		}
		if len(got) > 0 && !strings.HasSuffix(got[0], subject) {
			t.Errorf("%s: mail %q, want suffix %q", when, got[0], subject)
		}
		if reason := b.reason(); reason != state {
			t.Errorf("%s: the endpoint is %s, want %s", when, reason, state)
		}
	}
	day := 24 * time.Hour
	fail(19)
	b.pass(6 * day)
	expect("19 events in six days", 2, "is failing", "enabled") // straight to 90 %
	if h := b.health(); h.Warned != 90 {
		t.Errorf("%+v", h)
	}
	status.Store(200)
	if err := b.run(t.Context(), b.announce()); err != nil {
		t.Fatal(err)
	}
	status.Store(404)
	expect("a success ends it", 0, "", "enabled")
	fail(30)
	b.pass(60*time.Hour - time.Minute)
	expect("just before half the time", 0, "", "enabled")
	b.pass(time.Minute)
	expect("half the time", 2, "is failing", "enabled")
	b.pass(48 * time.Hour)
	expect("nine tenths", 2, "is failing", "enabled")
	b.pass(12*time.Hour - time.Minute)
	expect("a minute before its time", 0, "", "enabled")
	b.pass(time.Minute)
	expect("five days", 2, "was disabled", "failing")
	b.tx(func(tx *postgres.Tx) error {
		page, err := b.hooks.ListDeliveries(t.Context(), tx, other.ID, webhooks.Filter{}, id.ID{}, 10)
		if told := page.Deliveries; err == nil && (len(told) != 1 || told[0].EventType != "webhook.disabled") {
			t.Errorf("the other endpoint was told %+v", told)
		}
		return err
	})
	sent := b.received()
	for _, d := range b.deliveries() { // deliveries that wait for a retry
		if d.Status == webhooks.Failed {
			if err := b.run(t.Context(), d.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := b.one(
		"SELECT count(*) FROM webhook_delivery WHERE status NOT IN ('delivered', 'discarded') AND endpoint_id = $1",
		b.endpoint.ID); n != 0 || b.received() != sent {
		t.Errorf("%d deliveries are not over, %d more requests", n, b.received()-sent)
	}
}

func TestAnEndpointIsNotDisabledWhileAnythingArrives(t *testing.T) {
	t.Parallel()
	b, status := flaky(t, 500)
	b.staff()
	for range 12 { // ten days of failures with a success every twenty hours
		status.Store(500)
		for range 4 {
			_ = b.run(t.Context(), b.announce())
		}
		b.pass(20 * time.Hour)
		b.review()
		status.Store(200)
		if err := b.run(t.Context(), b.announce()); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.tell(); len(got) != 0 || b.reason() != "enabled" {
		t.Errorf("%q, %s", got, b.reason())
	}
}
