package stripeevent_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/stripeevent"
)

// TestAnEventWaitsForTheRequestThatCausedItAndForStripe runs one event while its change is in flight, then while Stripe
// is unavailable. Neither spends an attempt.
func TestAnEventWaitsForTheRequestThatCausedItAndForStripe(t *testing.T) {
	t.Parallel()
	db, ctx := testkit.DB(t), t.Context()
	box := stripe.New(stripe.Options{Store: stripememory.New()})
	t.Cleanup(box.Close)
	secret, err := box.Ensure(ctx, "http://api.test/billing/stripe/webhook", false)
	if err != nil {
		t.Fatal(err)
	}
	s := billing.New(billing.Options{
		App: db.App, System: db.System, Catalogue: entitlementsync.Standard(), Log: slog.New(slog.DiscardHandler),
		Secret: secret,
		Account: billing.Account{
			Key: "sk_test_event", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: box.Transport()},
		},
		Remind: func(context.Context, *postgres.Tx, id.ID) error { return nil },
		Arrived: func(ctx context.Context, tx *postgres.Tx, event string) error {
			return stripeevent.Kind.Add(ctx, tx, stripeevent.Args{Event: event})
		},
		Audit: func(context.Context, *postgres.Tx, billing.Act) {},
	})
	if _, err := sync.New(s).Publish(ctx, false); err != nil {
		t.Fatal(err)
	}
	sql, org := testkit.Pgx(t, db.URL), id.New()
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := sql.Exec(ctx, statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("INSERT INTO org (id, name) VALUES ($1, 'Test')", org)
	if _, err := change.New(s).Change(ctx, org, change.Request{Plan: "solo_pro", Interval: "month"},
		change.Call{}); err != nil {
		t.Fatal(err)
	}
	out, err := box.Outbox(ctx, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		if err := sync.New(s).Intake(ctx, o.Body, o.Header.Get("Stripe-Signature"), false); err != nil {
			t.Fatal(err)
		}
	}
	var event string
	if err := sql.QueryRow(ctx, "SELECT id FROM stripe_event WHERE org_id = $1 LIMIT 1", org).Scan(&event); err != nil {
		t.Fatal(err)
	}
	handler := stripeevent.Kind.Handle(stripeevent.Job{Events: sync.New(s)}.Work)
	work := func() error {
		return handler.Call(ctx,
			&queue.Claimed{
				ID: id.New(), Org: org, Kind: handler.Kind, Raw: []byte(`{"event":"` + event + `"}`),
				CreatedAt: time.Now(),
			})
	}
	worked := func() (is bool) {
		t.Helper()
		if err := sql.QueryRow(ctx, "SELECT worked_at IS NOT NULL FROM stripe_event WHERE id = $1", event).
			Scan(&is); err != nil {
			t.Fatal(err)
		}
		return is
	}
	exec("UPDATE plan_change SET state = 'in_flight', created_at = now() WHERE org_id = $1", org)
	if d, waits := queue.SnoozeOf(work()); !waits || d > 5*time.Second {
		t.Errorf("a change in flight: waits %v for %s", waits, d)
	}
	if worked() {
		t.Error("a change in flight: the event is marked as worked")
	}
	exec("UPDATE plan_change SET state = 'applied' WHERE org_id = $1", org)
	box.Break(stripe.Fault{Kind: stripe.CutBefore, Times: -1})
	if d, waits := queue.SnoozeOf(work()); !waits || d > 10*time.Second {
		t.Errorf("Stripe away: waits %v for %s", waits, d)
	}
	if worked() {
		t.Error("Stripe away: the event is marked as worked")
	}
	box.Mend()
	for range 2 {
		if err := work(); err != nil || !worked() {
			t.Errorf("%v, worked %v", err, worked())
		}
	}
}
