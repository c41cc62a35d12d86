package worker_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/worker"
)

// Covers the whole path: a commit, the CommitEnqueuer, asynq, a worker, and a receiver that verifies the signature.
func TestACommittedEventIsPostedAtOnceSigned(t *testing.T) {
	t.Parallel()
	h := open(t)
	type arrival struct {
		at     time.Time
		body   []byte
		header http.Header
	}
	arrivals := make(chan arrival, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrivals <- arrival{time.Now(), body, r.Header.Clone()}
	}))
	t.Cleanup(receiver.Close)

	box := testkit.Box(t)
	hooks := &webhooks.Service{Box: box, Policy: outbound.Policy{AllowPrivate: true}}
	calls := outbound.New(outbound.Options{Policy: hooks.Policy})
	h.work(worker.Options{}, (&webhookdeliver.Job{DB: h.db.App, Hooks: hooks, Client: calls}).Handler())

	db := h.pushing()

	var shown string
	if err := db.Tx(t.Context(), h.org, func(tx *postgres.Tx) (err error) {
		_, shown, err = hooks.Create(t.Context(), tx,
			webhooks.New{URL: receiver.URL, Events: []string{"*"}, Enabled: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(shown)
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for range 40 {
		now := wire.Now()
		c := events.Contact{
			ID: id.New(), Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace",
			Stage: "lead", Tag: []string{}, Segment: []string{}, Attributes: map[string]any{},
			Score: events.ContactScore{Confidence: "prior"}, CreatedAt: now, UpdatedAt: now,
		}
		if err := db.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
			return events.Announce(t.Context(), tx, events.ContactCreated{Contact: c})
		}); err != nil {
			t.Fatal(err)
		}
		committed := time.Now()
		select {
		case a := <-arrivals:
			took = append(took, a.at.Sub(committed))
			if err := verifier.Verify(a.body, a.header); err != nil {
				t.Error(err)
			}
			eventstest.Check(t, a.body)
		case <-time.After(time.Minute):
			t.Fatal("nothing arrived")
		}
	}
	slices.Sort(took)
	t.Logf("commit to POST: p50 %v, p95 %v", took[len(took)/2], took[len(took)*95/100])
	// The benchmark requires 50 ms on a quiet machine; the relay repairs a missed push after 3 s.
	if p50 := took[len(took)/2]; p50 > 2*time.Second {
		t.Errorf("commit to POST: p50 %v", p50)
	}
	h.until(giveUpAfter, "the jobs are gone", func() bool { return len(h.jobs()) == 0 })
	rows, err := h.sql.Query(t.Context(), `
		SELECT d.status, d.attempts, array_remove(array_agg(concat(a.error_class, a.error)), '')
		FROM webhook_delivery d LEFT JOIN webhook_attempt a ON a.org_id = d.org_id AND a.delivery_id = d.id
		WHERE d.attempt_id IS NOT NULL GROUP BY d.org_id, d.id`)
	if err != nil {
		t.Fatal(err)
	}
	type recorded struct {
		Status   string
		Attempts int
		Errors   []string
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[recorded])
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Repeat([]recorded{{Status: "delivered", Attempts: 1, Errors: []string{}}}, 40)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the deliveries (-want +got):\n%s", diff)
	}
	if n := h.count("SELECT count(*) FROM webhook_attempt"); n != 0 {
		t.Errorf("%d attempts are logged beside their deliveries", n)
	}
}
