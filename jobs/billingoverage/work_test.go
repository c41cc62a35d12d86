package billingoverage_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
	"github.com/funnelwork/funnelwork/jobs/billingoverage"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// TestAnAgencyWhoseQuantityIsOffIsAskedForOnceAndSetRight runs the platform's scan twice, then the one job that it
// enqueued.
func TestAnAgencyWhoseQuantityIsOffIsAskedForOnceAndSetRight(t *testing.T) {
	t.Parallel()
	db, ctx := testkit.DB(t), t.Context()
	box := stripe.New(stripe.Options{Store: stripememory.New()})
	t.Cleanup(box.Close)
	s := billing.New(billing.Options{
		App: db.App, System: db.System, Catalogue: entitlementsync.Standard(), Log: slog.New(slog.DiscardHandler),
		Account: billing.Account{
			Key: "sk_test_overage", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: box.Transport()},
		},
		Remind: func(context.Context, *postgres.Tx, id.ID) error { return nil },
		Audit:  func(context.Context, *postgres.Tx, billing.Act) {},
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
	exec("INSERT INTO org (id, name) VALUES ($1, 'Agency')", org)
	if _, err := change.New(s).Change(ctx, org, change.Request{Plan: "agency_scale", Interval: "month"},
		change.Call{}); err != nil {
		t.Fatal(err)
	}
	exec("DELETE FROM job")
	exec("UPDATE quota SET used = cap + 4 WHERE org_id = $1 AND feature = 'client_orgs'", org)

	handler := billingoverage.Kind.Handle(billingoverage.Job{Sync: sync.New(s), System: db.System}.Work)
	for range 2 {
		if err := handler.Call(ctx, &queue.Claimed{ID: id.New(), Kind: handler.Kind, Raw: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	var job id.ID
	var jobs int
	if err := sql.QueryRow(ctx, "SELECT count(*) FROM job").Scan(&jobs); err != nil || jobs != 1 {
		t.Fatalf("%d jobs, %v; want one", jobs, err)
	}
	if err := sql.QueryRow(ctx, "SELECT id FROM job WHERE org_id = $1", org).Scan(&job); err != nil {
		t.Fatal(err)
	}
	jobStore := store.New(db.App, db.System)
	run, err := jobStore.Claim(ctx, org, job)
	if err != nil {
		t.Fatal(err)
	}
	if err := handler.Call(ctx, run); err != nil {
		t.Fatal(err)
	}
	var quantity int
	if err := sql.QueryRow(ctx, "SELECT overage_quantity FROM stripe_subscription WHERE org_id = $1", org).
		Scan(&quantity); err != nil || quantity != 4 {
		t.Errorf("Stripe charges for %d, %v; want 4", quantity, err)
	}
}
