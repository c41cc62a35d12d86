package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/plansweep"
	"github.com/funnelwork/funnelwork/worker"
)

// changing is the role of a process that changes an org's plan and is killed in between: "changing WHERE PLAN".
const changing = "changing"

// office returns billing on a database, with a Stripe in the same database that outlives every process.
func office(app, system *postgres.DB, at func(context.Context, string) error) (*billing.Service, *stripe.Sandbox) {
	box := stripe.New(stripe.Options{Store: stripe.Postgres{System: system}})
	return jobs.Billing(billing.Options{
		App: app, System: system, Catalogue: entitlementsync.Standard(), Log: slog.New(slog.DiscardHandler), At: at,
		Account: billing.Account{
			Key: "sk_test_office", URL: "http://stripe.test",
			HTTP: &http.Client{Transport: box.Transport()},
		},
	}), box
}

// dieChanging upgrades an org and is killed in between. It returns only if it was not.
func dieChanging(ctx context.Context, app, system *postgres.DB, org id.ID, role string) error {
	_, role, _ = strings.Cut(role, " ")
	at, plan, _ := strings.Cut(role, " ")
	kill := func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	s, box := office(app, system, func(_ context.Context, point string) error {
		if point == at {
			kill()
		}
		return nil
	})
	if at == "acted" {
		box.Break(stripe.Fault{Kind: stripe.CutAfter, Method: http.MethodPost, Path: "/v1/subscriptions", Struck: kill})
	}
	a, err := change.New(s).Change(ctx, org, change.Request{Plan: plan, Interval: "month"}, change.Call{})
	return fmt.Errorf("lived on: %+v, %w", a, err)
}

// killed is an org with a change that lost its process.
type killed struct {
	at      string
	org     id.ID
	plan    string // the requested plan
	charges int    // expected charges in total
	when    time.Time
	took    time.Duration // until the change was closed and its job was gone
}

// TestAKilledChangeConvergesWithinAMinuteAndActsOnce kills the process at each step of a first subscription and of an
// upgrade: before Stripe is called, after Stripe has acted but before its response, before and within the second
// transaction, and after its commit. A worker then finds the job that was written with the change, at the normal times,
// and completes the change. Nothing is charged, subscribed or announced twice.
func TestAKilledChangeConvergesWithinAMinuteAndActsOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	s, box := office(h.db.App, h.db.System, nil)
	if _, err := sync.New(s).Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	h.work(worker.Options{}, billingsettle.Kind.Handle(billingsettle.Job{Changes: change.New(s)}.Work),
		entitlementsync.Job{Plans: entitlementsync.Standard()}.Handler())
	var all []*killed
	for _, at := range []string{"begun", "acted", "asked", "closing", "closed"} {
		for _, first := range []bool{true, false} {
			k := &killed{at: at, org: newOrg(), plan: "solo_pro", charges: 1}
			h.exec("INSERT INTO org (id, name) VALUES ($1, 'Test')", k.org)
			if !first {
				if _, err := change.New(s).Change(t.Context(), k.org,
					change.Request{Plan: "solo_starter", Interval: "month"}, change.Call{}); err != nil {
					t.Fatal(err)
				}
				k.plan, k.charges = "agency_growth", 2
			}
			h.org = k.org
			err := h.process(strings.Join([]string{changing, at, k.plan}, " ")).Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok ||
				exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s: the process was not killed: %v", at, err)
			}
			k.when = time.Now()
			all = append(all, k)
		}
	}
	h.until(giveUpAfter, "every change is closed", func() bool {
		open := 0
		for _, k := range all {
			if k.took != 0 {
				continue
			}
			if h.count("SELECT (SELECT count(*) FROM plan_change WHERE org_id = $1 AND state = 'in_flight') + "+
				"(SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'billing.settle')", k.org) == 0 {
				k.took = time.Since(k.when)
			} else {
				open++
			}
		}
		return open == 0
	})
	for _, k := range all {
		var plan, states, customer string
		err := h.sql.QueryRow(t.Context(),
			`SELECT s.plan, (SELECT string_agg(DISTINCT state, ' ') FROM plan_change c
				WHERE c.org_id = s.org_id), s.stripe_customer_id FROM subscription s WHERE org_id = $1`, k.org).
			Scan(&plan, &states, &customer)
		if err != nil {
			t.Fatal(err)
		}
		charges := 0
		ledger, err := box.Ledger(t.Context(), "", customer)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ledger {
			if m.Kind == "charge" {
				charges++
			}
		}
		subscriptions := h.count(
			"SELECT count(*) FROM sandbox_stripe WHERE kind = 'subscription' AND 'customer=' || $1::text = ANY "+
				"(marks)", customer)
		told, live := h.count("SELECT count(*) FROM event WHERE org_id = $1 AND type = 'plan.changed'", k.org),
			h.count("SELECT count(*) FROM stripe_subscription WHERE org_id = $1 AND live", k.org)
		t.Logf("killed when %s on the way to %s: closed %s later", k.at, k.plan, k.took.Round(100*time.Millisecond))
		if k.took > time.Minute {
			t.Errorf("killed when %s: closed after %s, want a minute or less", k.at, k.took)
		}
		type facts struct {
			Plan, Changes                      string
			Charges, Told, Subscriptions, Live int
		}
		if diff := cmp.Diff(facts{k.plan, "applied", k.charges, k.charges, 1, 1},
			facts{plan, states, charges, told, subscriptions, live}); diff != "" {
			t.Errorf("killed when %s (-want +got):\n%s", k.at, diff)
		}
	}
}

// TestTheClockEndsATrialAndAGraceAndNothingIsLost lets a trial and the grace period of an unpaid renewal end without
// any request. Each org falls back to the free plan in time, the change is announced once, and the org keeps its rows.
func TestTheClockEndsATrialAndAGraceAndNothingIsLost(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := entitlementsync.Standard()
	h.work(worker.Options{}, entitlementsync.Job{Plans: c}.Handler(),
		plansweep.Job{System: h.db.System, Plans: c}.Handler())
	trial, late := newOrg(), newOrg()
	const over = "clock_timestamp() + interval '1.5 s'"
	for org, sql := range map[id.ID]string{
		trial: "UPDATE subscription SET trial_ends_at = " + over + " WHERE org_id = $1",
		late: "UPDATE subscription SET plan = 'solo_pro', interval = 'month', status = 'past_due', " +
			"stripe_subscription_id = 'sub_1', past_due_since = " +
			over + " - interval '14 days' WHERE org_id = $1",
	} {
		h.exec("INSERT INTO org (id, name) VALUES ($1, 'Test')", org)
		h.exec(sql, org)
		h.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded,
			stage, created_at, updated_at)
			SELECT $1, uuidv7_at(clock_timestamp()), n || '@x.example', n || '@x.example', 'A', 'B', 'b', 'lead',
			now(), now() FROM generate_series(1, 130) n`, org)
		if err := h.db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			return c.Settle(t.Context(), tx)
		}); err != nil {
			t.Fatal(err)
		}
		if n := h.count("SELECT count(*) FROM quota WHERE org_id = $1 AND feature = 'webhooks' AND cap = 50",
			org); n != 1 {
			t.Errorf("%d limits of its plan before the end", n)
		}
		if n := h.count("SELECT count(*) FROM event WHERE org_id = $1", org); n != 0 {
			t.Errorf("%d events before the end", n)
		}
	}
	told := func() int { return h.count("SELECT count(*) FROM event WHERE type = 'plan.changed'") }
	h.until(giveUpAfter, "both are told", func() bool { return told() == 2 })
	for org, want := range map[id.ID][2]string{
		trial: {`{"plan":"trial","interval":null,"status":"trial_ended"}`, `{"status":"trialing"}`},
		late:  {`{"plan":"solo_pro","interval":"month","status":"unpaid"}`, `{"status":"past_due"}`},
	} {
		var right, onTime bool
		var previous string
		err := h.sql.QueryRow(t.Context(),
			`SELECT (data->'object')::jsonb - 'effective_at' = $2::jsonb, data->'previous',
				(data->'object'->>'effective_at')::timestamptz = coalesce(s.trial_ends_at, s.past_due_since +
				interval '14 days')
			FROM event e JOIN subscription s ON s.org_id = e.org_id WHERE e.org_id = $1`, org, want[0]).
			Scan(&right, &previous, &onTime)
		if err != nil {
			t.Fatal(err)
		}
		if previous != want[1] {
			t.Errorf("the event's previous values are %s, want %s", previous, want[1])
		}
		if !right || !onTime {
			t.Errorf("the event has the right object: %v, the right time: %v; want %s", right, onTime, want[0])
		}
		if n := h.count("SELECT count(*) FROM audit_log WHERE org_id = $1 AND action = 'plan.changed'", org); n != 1 {
			t.Errorf("%d entries in the log", n)
		}
		// All rows are kept, more than the free plan allows, and none can be added.
		if n := h.count("SELECT count(*) FROM contact WHERE org_id = $1 AND archived_at IS NULL", org); n != 130 {
			t.Errorf("%d contacts are left", n)
		}
		if n := h.count(
			"SELECT count(*) FROM quota WHERE org_id = $1 AND feature = 'contacts' AND cap = 100 AND used = 130",
			org); n != 1 {
			t.Errorf("%d limits of the free set", n)
		}
		if _, err := h.sql.Exec(t.Context(),
			`INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at, enabled)
			VALUES ($1, $2, 'https://x.example', '{*}', '', now(), now(), false)`, org, newOrg()); err == nil ||
			!strings.Contains(err.Error(), "plan_limit_reached") {
			t.Errorf("a webhook more: %v", err)
		}
	}
	// Another settling, as after an edited catalogue, announces nothing.
	h.exec("UPDATE subscription SET plan_version = ''")
	h.add(adding(plansweep.Kind, plansweep.Args{}))
	h.until(giveUpAfter, "both are settled anew", func() bool {
		return h.count("SELECT count(*) FROM subscription WHERE plan_version = ''")+
			h.count("SELECT count(*) FROM job") == 0
	})
	if n := told(); n != 2 {
		t.Errorf("%d were told, want 2", n)
	}
}
