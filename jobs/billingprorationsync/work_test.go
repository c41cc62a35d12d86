package billingprorationsync_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
	"github.com/funnelwork/funnelwork/jobs/billingprorationsync"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// TestBothSyncsFindWhatNobodyToldUsOf checks that the short sync fetches missed events and that the full sync repairs a
// modified subscription.
func TestBothSyncsFindWhatNobodyToldUsOf(t *testing.T) {
	t.Parallel()
	db, ctx := testkit.DB(t), t.Context()
	box := stripe.New(stripe.Options{Store: stripememory.New()})
	t.Cleanup(box.Close)
	arrived := 0
	s := billing.New(billing.Options{
		App: db.App, System: db.System, Catalogue: entitlementsync.Standard(), Log: slog.New(slog.DiscardHandler),
		Account: billing.Account{
			Key: "sk_test_sync", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: box.Transport()},
		},
		Remind: func(context.Context, *postgres.Tx, id.ID) error { return nil },
		Arrived: func(context.Context, *postgres.Tx, string) error {
			arrived++
			return nil
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
	job := billingprorationsync.Job{Sync: sync.New(s), Connect: connect.New(s), Log: slog.New(slog.DiscardHandler)}
	handler := billingprorationsync.Kind.Handle(job.Work)
	run := func(args string) {
		t.Helper()
		if err := handler.Call(ctx, &queue.Claimed{ID: id.New(), Kind: handler.Kind, Raw: []byte(args)}); err != nil {
			t.Fatal(err)
		}
	}
	run(`{"whole":false}`)
	if arrived < 5 {
		t.Errorf("%d events were fetched", arrived)
	}
	exec("UPDATE stripe_subscription SET plan = 'solo_starter', status = 'past_due' WHERE org_id = $1", org)
	run(`{"whole":true}`)
	var plan, status string
	if err := sql.QueryRow(ctx, "SELECT plan, status FROM stripe_subscription WHERE org_id = $1", org).
		Scan(&plan, &status); err != nil {
		t.Fatal(err)
	}
	if plan != "solo_pro" || status != "active" {
		t.Errorf("plan %s, status %s; want solo_pro, active", plan, status)
	}
}
