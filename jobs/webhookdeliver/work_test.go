package webhookdeliver_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
)

type received struct {
	method string
	header http.Header
	body   []byte
}

// bench is one org with one webhook and its own receiver.
type bench struct {
	*testing.T
	db       *testkit.Database
	super    *pgxpool.Pool // no row policies
	hooks    *webhooks.Service
	ledger   *store.Store
	job      *webhookdeliver.Job
	org      id.ID
	endpoint webhooks.Versioned
	secret   string
	mu       sync.Mutex
	got      []received
}

// begin starts a receiver that records requests and responds with answer.
func begin(t *testing.T, answer http.HandlerFunc) *bench {
	t.Helper()
	box := testkit.Box(t)
	b := &bench{T: t, db: testkit.DB(t), org: id.New()}
	cfg, err := pgxpool.ParseConfig(b.db.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 2
	if b.super, err = pgxpool.NewWithConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.super.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.got = append(b.got, received{r.Method, r.Header.Clone(), body})
		b.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	policy := outbound.Policy{AllowPrivate: true}
	client := outbound.New(outbound.Options{Policy: policy, Timeout: 5 * time.Second})
	b.hooks = &webhooks.Service{Box: box, Policy: policy}
	b.ledger = store.New(b.db.App, b.db.System)
	b.job = &webhookdeliver.Job{DB: b.db.App, Hooks: b.hooks, Client: client}
	b.tx(func(tx *postgres.Tx) (err error) {
		b.endpoint, b.secret, err = b.hooks.Create(t.Context(), tx,
			webhooks.New{URL: s.URL + "/hook", Events: []string{"contact.created"}, Enabled: true})
		return err
	})
	return b
}

func (b *bench) tx(fn func(tx *postgres.Tx) error) {
	b.Helper()
	if err := b.db.App.Tx(b.Context(), b.org, fn); err != nil {
		b.Fatal(err)
	}
}

// announce makes an event and returns its delivery.
func (b *bench) announce() id.ID {
	b.Helper()
	now := wire.Now()
	c := events.Contact{
		ID: id.New(), Email: "ada@example.com", FirstName: "Ada", LastName: "<&>", Stage: "lead", Tag: []string{"a"},
		Segment: []string{}, Attributes: map[string]any{},
		Score: events.ContactScore{Confidence: "prior"}, CreatedAt: now, UpdatedAt: now,
	}
	b.tx(func(tx *postgres.Tx) error {
		return events.Announce(b.Context(), tx, events.ContactCreated{Contact: c})
	})
	var delivery id.ID // newest by event: ids within one millisecond are unordered
	if err := b.super.QueryRow(b.Context(),
		`SELECT d.id FROM webhook_delivery d JOIN event e ON e.org_id = d.org_id AND e.id = d.event_id
		WHERE d.endpoint_id = $1 ORDER BY e.seq DESC LIMIT 1`, b.endpoint.ID).Scan(&delivery); err != nil {
		b.Fatal(err)
	}
	return delivery
}

func (b *bench) deliveries() (all []webhooks.Delivery) {
	b.Helper()
	b.tx(func(tx *postgres.Tx) (err error) {
		page, err := b.hooks.ListDeliveries(b.Context(), tx, b.endpoint.ID, webhooks.Filter{}, id.ID{}, 100)
		all = page.Deliveries
		return err
	})
	return all
}

func (b *bench) delivery(which id.ID) (d webhooks.Delivery) {
	b.Helper()
	b.tx(func(tx *postgres.Tx) (err error) {
		d, err = b.hooks.GetDelivery(b.Context(), tx, which)
		return err
	})
	return d
}

// run makes the delivery's job due, claims it, runs it and finishes it like a worker. It returns the run's error.
func (b *bench) run(ctx context.Context, delivery id.ID) error {
	b.Helper()
	b.letThrough(delivery)
	c, err := b.ledger.Claim(b.Context(), b.org, delivery)
	if err != nil {
		b.Fatalf("claim: %v", err)
	}
	worked := b.job.Handler().Call(ctx, c)
	v := store.Completion{Outcome: store.Done}
	if worked != nil {
		in, _ := queue.RetryOf(worked)
		v = store.Completion{Outcome: store.Failed, Error: worked.Error(), In: in}
		if c.Last() || queue.IsDrop(worked) {
			v.Outcome = store.Died
		}
		if in, ok := queue.SnoozeOf(worked); ok {
			v = store.Completion{Outcome: store.Snoozed, In: in}
		}
		if ctx.Err() != nil {
			v = store.Completion{Outcome: store.Released}
		}
	}
	if err := b.ledger.Finish(b.Context(), c, v); err != nil {
		b.Fatalf("finish: %v", err)
	}
	return worked
}

func TestADeliveryIsSignedRecordedAndDone(t *testing.T) {
	t.Parallel()
	b := begin(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(201)
		_, _ = io.WriteString(w, "merci\x00\xff")
	})
	which := b.announce()
	if d := b.delivery(which); d.Status != webhooks.Pending || len(d.Attempts) != 0 {
		t.Errorf("before: %+v", d)
	}
	if err := b.run(t.Context(), which); err != nil {
		t.Fatal(err)
	}
	if len(b.got) != 1 {
		t.Fatalf("%d requests", len(b.got))
	}
	r := b.got[0]
	type head struct{ Method, Type, Agent string }
	if diff := cmp.Diff(head{http.MethodPost, "application/json", "Funnelwork-Webhooks/1"},
		head{r.method, r.header.Get("Content-Type"), r.header.Get("User-Agent")}); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	eventstest.Check(t, r.body)
	// As two receivers verify it: with the reference library, and with three lines of code.
	lib, err := standardwebhooks.NewWebhook(b.secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := lib.Verify(r.body, r.header); err != nil {
		t.Error(err)
	}
	m := hmac.New(sha256.New, []byte(b.secret))
	m.Write(r.body)
	if got := r.header.Get("X-Service-Signature"); got != hex.EncodeToString(m.Sum(nil)) {
		t.Errorf("X-Service-Signature: %s", got)
	}
	d := b.delivery(which)
	if r.header.Get("Webhook-Id") != d.EventID.String() ||
		!strings.Contains(string(r.body), `"id":"`+d.EventID.String()+`"`) {
		t.Errorf("webhook-id %s, event %s", r.header.Get("Webhook-Id"), d.EventID)
	}
	delivered := d
	delivered.Status, delivered.AttemptCount, delivered.LastStatusCode = webhooks.Delivered, 1, new(201)
	delivered.LastErrorClass, delivered.NextAttemptAt = nil, nil
	if diff := cmp.Diff(delivered, d); diff != "" {
		t.Fatalf("the delivery (-want +got):\n%s", diff)
	}
	if len(d.Attempts) != 1 {
		t.Fatalf("%d attempts, want 1", len(d.Attempts))
	}
	a := d.Attempts[0]
	want := a
	want.Number, want.StatusCode, want.ErrorClass = 1, new(201), nil
	want.ResponseBody, want.ResponseCut = new("merci\x00\uFFFD"), false
	want.RequestHeaders = maps.Clone(a.RequestHeaders)
	want.RequestHeaders["X-Service-Signature"] = r.header.Get("X-Service-Signature")
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("the attempt (-want +got):\n%s", diff)
	}
	if a.Timings.Total <= 0 || a.Timings.FirstByte <= 0 {
		t.Errorf("total %v ms, first byte after %v ms; want both", a.Timings.Total, a.Timings.FirstByte)
	}
	if n := b.count("job"); n != 0 {
		t.Errorf("%d jobs left", n)
	}
	if listed := b.deliveries()[0]; len(listed.Attempts) != 1 || listed.Attempts[0].ResponseBody != nil {
		t.Errorf("in the list: %+v", listed)
	}
	b.feedIs(r.body)
}

// feedIs compares the feed's bytes with the delivered ones.
func (b *bench) feedIs(body []byte) {
	b.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		var page []*events.Stored
		b.tx(func(tx *postgres.Tx) (err error) {
			page, err = events.Feed(b.Context(), tx, 0, nil, 10)
			return err
		})
		if len(page) > 0 { // other tests' open transactions delay the horizon
			if diff := cmp.Diff(string(body), string(page[0].Bytes())); diff != "" {
				b.Errorf("delivered and shown bytes differ:\n%s", diff)
			}
			return
		}
		if time.Now().After(deadline) {
			b.Fatal("the event does not show in the feed")
		}
	}
}

func (b *bench) count(table string) (n int) {
	b.Helper()
	if err := b.super.QueryRow(b.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

func TestAFailingReceiverGetsTenTriesWithOneIDAndThenNoMore(t *testing.T) {
	t.Parallel()
	b := begin(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) })
	which := b.announce()
	for n := 1; n <= 10; n++ {
		before := time.Now()
		err := b.run(t.Context(), which)
		after := time.Now()
		if err == nil {
			t.Fatalf("try %d succeeded", n)
		}
		d := b.delivery(which)
		want := webhooks.Failed
		if n == 10 {
			want = webhooks.Exhausted
		}
		failed := d
		failed.Status, failed.AttemptCount = want, n
		failed.LastErrorClass, failed.LastStatusCode = new("http_status"), new(500)
		if diff := cmp.Diff(failed, d); diff != "" {
			t.Fatalf("after try %d (-want +got):\n%s", n, diff)
		}
		in, ok := queue.RetryOf(err)
		if n == 10 {
			if d.NextAttemptAt != nil || ok {
				t.Errorf("an eleventh try is planned at %v", d.NextAttemptAt)
			}
			continue
		}
		b.pass(in)
		// The org sees the time that the queue uses.
		if !ok {
			t.Errorf("try %d: no retry is planned", n)
		}
		if next := *d.NextAttemptAt; next.Before(before.Add(in-time.Second)) || next.After(after.Add(in+time.Second)) {
			t.Errorf("try %d: next shown %v, told %v", n, d.NextAttemptAt, in)
		}
	}
	ids, stamps := map[string]bool{}, 0
	for _, r := range b.got {
		ids[r.header.Get("Webhook-Id")] = true
		if r.header.Get("Webhook-Timestamp") != "" {
			stamps++
		}
		if string(r.body) != string(b.got[0].body) {
			t.Error("the body changed between tries")
		}
	}
	type facts struct{ Requests, IDs, Timestamps int }
	if diff := cmp.Diff(facts{10, 1, 10}, facts{len(b.got), len(ids), stamps}); diff != "" {
		t.Errorf("all tries (-want +got):\n%s", diff)
	}
	numbers := []int{}
	for _, a := range b.delivery(which).Attempts {
		numbers = append(numbers, a.Number)
	}
	if !slices.Equal(numbers, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("attempts %v", numbers)
	}
}

func TestA410DisablesTheWebhookAtOnceAndTellsTheOthers(t *testing.T) {
	t.Parallel()
	b := begin(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	var other webhooks.Versioned
	b.tx(func(tx *postgres.Tx) (err error) {
		other, _, err = b.hooks.Create(t.Context(), tx,
			webhooks.New{URL: "https://example.com/", Events: []string{"webhook.disabled"}, Enabled: true})
		return err
	})
	first, second := b.announce(), b.announce()
	if err := b.run(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := b.run(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if len(b.got) != 1 {
		t.Errorf("%d requests, want the one that was answered 410", len(b.got))
	}
	for _, d := range b.deliveries() {
		if d.Status != webhooks.Discarded || d.NextAttemptAt != nil {
			t.Errorf("%+v", d)
		}
	}
	b.tx(func(tx *postgres.Tx) error {
		v, err := b.hooks.Get(t.Context(), tx, b.endpoint.ID, false)
		if err != nil {
			return err
		}
		want := v
		want.Enabled, want.DisabledReason = false, new("gone")
		want.Edit, want.Computed, want.UpdatedAt = 1, 1, b.endpoint.UpdatedAt
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("the endpoint (-want +got):\n%s", diff)
		}
		page, err := b.hooks.ListDeliveries(t.Context(), tx, other.ID, webhooks.Filter{}, id.ID{}, 10)
		if told := page.Deliveries; err == nil && (len(told) != 1 || told[0].EventType != "webhook.disabled") {
			t.Errorf("told: %+v", told)
		}
		return err
	})
	var stored events.Stored
	conn := testkit.Pgx(t, b.db.URL)
	if err := conn.QueryRow(t.Context(),
		"SELECT org_id, id, seq, type, actor_type, data, created_at FROM event WHERE type = 'webhook.disabled'").
		Scan(&stored.OrgID, &stored.ID, &stored.Seq, &stored.Type, &stored.ActorType, &stored.Data,
			&stored.CreatedAt); err != nil {
		t.Fatal(err)
	}
	eventstest.Check(t, stored.Bytes())
}

func TestADeliveryToADisabledOrArchivedWebhookIsDiscarded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench, tx *postgres.Tx) error{
		"disabled": func(b *bench, tx *postgres.Tx) error {
			_, err := b.hooks.Update(b.Context(), tx, b.endpoint.ID, webhooks.Patch{Enabled: wire.Some(false)},
				func(webhooks.Versioned) error { return nil })
			return err
		},
		"archived": func(b *bench, tx *postgres.Tx) error {
			return b.hooks.Archive(b.Context(), tx, b.endpoint.ID, func(webhooks.Versioned) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, func(http.ResponseWriter, *http.Request) {})
			which := b.announce()
			b.tx(func(tx *postgres.Tx) error { return end(b, tx) })
			if err := b.run(t.Context(), which); err != nil {
				t.Fatal(err)
			}
			type facts struct {
				Status                   webhooks.Status
				Attempts, Requests, Jobs int
			}
			d := b.delivery(which)
			if diff := cmp.Diff(facts{Status: webhooks.Discarded},
				facts{d.Status, len(d.Attempts), len(b.got), b.count("job")}); diff != "" {
				t.Errorf("the delivery (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATestSendOfEveryTypeArrivesOnceAndMeetsItsSchema(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	b := begin(t, func(w http.ResponseWriter, _ *http.Request) {
		if fail.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	b.tx(func(tx *postgres.Tx) error { // a disabled webhook can be tested
		_, err := b.hooks.Update(t.Context(), tx, b.endpoint.ID, webhooks.Patch{Enabled: wire.Some(false)},
			func(webhooks.Versioned) error { return nil })
		return err
	})
	send := func(e events.Type) (d webhooks.Delivery) {
		b.tx(func(tx *postgres.Tx) (err error) {
			d, err = b.hooks.SendTest(t.Context(), tx, b.endpoint.ID, e)
			return err
		})
		return d
	}
	for _, e := range events.Catalogue() {
		d := send(e)
		if err := b.run(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		got := b.got[len(b.got)-1]
		eventstest.Check(t, got.body)
		if !strings.Contains(string(got.body), `"type":"`+e.Name+`"`) ||
			got.header.Get("Webhook-Id") != d.EventID.String() {
			t.Errorf("%s: %s", e.Name, got.body)
		}
	}
	fail.Store(true)
	e, _ := events.Lookup("deal.won")
	d := send(e)
	if err := b.run(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	d = b.delivery(d.ID)
	if d.Status != webhooks.Exhausted || d.Trigger != "test" {
		t.Errorf("a failed test: status %s, trigger %s; want exhausted, test", d.Status, d.Trigger)
	}
	if attempts, left := len(d.Attempts), b.count("job"); attempts != 1 || left != 0 {
		t.Errorf("a failed test: %d attempts, %d jobs left; want 1, 0", attempts, left)
	}
	if n := b.count("event"); n != 0 {
		t.Errorf("test sends left %d events", n)
	}
}

func TestATryThatWeCutOffIsNotTheReceiversFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := begin(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	which := b.announce()
	if err := b.run(ctx, which); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if d := b.delivery(which); d.Status != webhooks.Pending || len(d.Attempts) != 0 {
		t.Errorf("%+v", d)
	}
	if n := b.count("job"); n != 1 {
		t.Errorf("%d jobs, want the one that was handed back", n)
	}
}

func TestASlowOrBrokenReceiverIsAFailureWithItsClassAndNoAddress(t *testing.T) {
	t.Parallel()
	b := begin(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack() //nolint:forcetypeassert // httptest's
		if err == nil {
			_ = c.Close()
		}
	})
	which := b.announce()
	if err := b.run(t.Context(), which); err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
	d := b.delivery(which)
	failed := d
	failed.Status, failed.LastErrorClass, failed.LastStatusCode = webhooks.Failed, new("connection_closed"), nil
	if diff := cmp.Diff(failed, d); diff != "" {
		t.Errorf("the delivery (-want +got):\n%s", diff)
	}
	if code := d.Attempts[0].StatusCode; code != nil {
		t.Errorf("the attempt has the status code %d, want none", *code)
	}
	if text := *d.Attempts[0].Error; strings.Contains(text, "127.0.0.1") {
		t.Errorf("the attempt's error shows the address: %s", text)
	}
}

func TestTheTriesOfLostWorkersAreInTheLogAndDoNotCount(t *testing.T) {
	t.Parallel()
	b, status := flaky(t, 404)
	which := b.announce()
	b.sql("UPDATE job SET losses = 2 WHERE id = $1", which)
	if err := b.run(t.Context(), which); err == nil {
		t.Fatal("delivered")
	}
	status.Store(200)
	if err := b.run(t.Context(), which); err != nil {
		t.Fatal(err)
	}
	d := b.delivery(which)
	var got []string
	for _, a := range d.Attempts {
		class := "none"
		if a.ErrorClass != nil {
			class = *a.ErrorClass
		}
		got = append(got, fmt.Sprint(a.Number, " ", class, " ", a.StatusCode != nil))
	}
	if want := []string{
		"1 interrupted false", "1 interrupted false", "1 http_status true",
		"2 none true",
	}; !slices.Equal(got, want) || d.AttemptCount != 2 {
		t.Errorf("%q, %d tries", got, d.AttemptCount)
	}
}
