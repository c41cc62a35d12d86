package billingsettle_test

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
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// TestAChangeThatStripeLeftOpenWaitsForItAndIsClosedOnce runs a change in flight through an outage, which spends no
// attempt, to its end, and runs it again. worker/billing_test.go tests killed processes with a real worker.
func TestAChangeThatStripeLeftOpenWaitsForItAndIsClosedOnce(t *testing.T) {
	t.Parallel()
	db, ctx := testkit.DB(t), t.Context()
	box := stripe.New(stripe.Options{Store: stripememory.New()})
	t.Cleanup(box.Close)
	s := billing.New(billing.Options{
		App: db.App, System: db.System, Catalogue: entitlementsync.Standard(), Log: slog.New(slog.DiscardHandler),
		Account: billing.Account{
			Key: "sk_test_settle", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: box.Transport()},
		},
		Remind: func(ctx context.Context, tx *postgres.Tx, change id.ID) error {
			return billingsettle.Kind.Add(ctx, tx, billingsettle.Args{Change: change},
				queue.At(time.Now().Add(billingsettle.After)))
		},
		Audit: func(context.Context, *postgres.Tx, billing.Act) {},
	})
	if _, err := sync.New(s).Publish(ctx, false); err != nil {
		t.Fatal(err)
	}
	sql, org := testkit.Pgx(t, db.URL), id.New()
	if _, err := sql.Exec(ctx, "INSERT INTO org (id, name) VALUES ($1, 'Test')", org); err != nil {
		t.Fatal(err)
	}
	box.Break(stripe.Fault{Kind: stripe.CutBefore, Method: http.MethodPost, Path: "/v1/subscriptions", Times: -1})
	if a, err := change.New(s).Change(ctx, org, change.Request{Plan: "solo_pro", Interval: "month"},
		change.Call{}); !billing.Away(err) {
		t.Fatalf("%+v, %v; want Stripe away", a, err)
	}
	var args []byte
	var after float64
	if err := sql.QueryRow(ctx,
		"SELECT args, extract(epoch FROM run_at - now()) FROM job WHERE org_id = $1 AND kind = 'billing.settle'", org).
		Scan(&args, &after); err != nil || after > 20 {
		t.Fatalf("the job that looks after the change comes in %v s, %v", after, err)
	}
	handler := billingsettle.Kind.Handle(billingsettle.Job{Changes: change.New(s)}.Work)
	work := func() error {
		return handler.Call(ctx,
			&queue.Claimed{ID: id.New(), Org: org, Kind: handler.Kind, Raw: args, CreatedAt: time.Now()})
	}
	if d, waits := queue.SnoozeOf(work()); !waits || d > 10*time.Second {
		t.Errorf("Stripe away: waits %v for %s", waits, d)
	}
	box.Mend()
	for range 2 {
		if err := work(); err != nil {
			t.Fatal(err)
		}
	}
	var plan string
	var told, charges int
	if err := sql.QueryRow(ctx,
		"SELECT plan, (SELECT count(*) FROM event e WHERE e.org_id = s.org_id AND type = 'plan.changed') FROM "+
			"subscription s WHERE org_id = $1", org).Scan(&plan, &told); err != nil {
		t.Fatal(err)
	}
	all, err := box.Ledger(ctx, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Kind == "charge" {
			charges++
		}
	}
	if plan != "solo_pro" {
		t.Errorf("plan %s, want solo_pro", plan)
	}
	if told != 1 || charges != 1 {
		t.Errorf("%d events plan.changed, %d charges; want one each", told, charges)
	}
}
