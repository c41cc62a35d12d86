package billing_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

const sample = `{"id":"evt_1","object":"event","api_version":"2023-10-16","created":1785758400,` +
	`"type":"customer.subscription.updated",` +
	`"data":{"object":{"id":"sub_1","object":"subscription","customer":"cus_none"}}}`

func TestOnlyGenuineEventsAreTaken(t *testing.T) {
	t.Parallel()
	w := begin(t)
	at := w.now()
	sign := func(body string, at time.Time) string { return stripe.Sign(w.secret, at, []byte(body)) }
	for name, c := range map[string]struct {
		body, signature string
		want            fault.Code // "": accepted
	}{
		"genuine": {sample, sign(sample, at), ""},
		"five minutes old": {
			strings.Replace(sample, "evt_1", "evt_2", 1),
			sign(strings.Replace(sample, "evt_1", "evt_2", 1), at.Add(-300*time.Second)), "",
		},
		"a minute ahead": {
			strings.Replace(sample, "evt_1", "evt_3", 1),
			sign(strings.Replace(sample, "evt_1", "evt_3", 1), at.Add(60*time.Second)), "",
		},
		"older":          {sample, sign(sample, at.Add(-301*time.Second)), fault.InvalidSignature},
		"further ahead":  {sample, sign(sample, at.Add(61*time.Second)), fault.InvalidSignature},
		"another secret": {sample, stripe.Sign("whsec_other", at, []byte(sample)), fault.InvalidSignature},
		"another body": {
			strings.Replace(sample, "sub_1", "sub_2", 1), sign(sample, at),
			fault.InvalidSignature,
		},
		"no signature":           {sample, "", fault.InvalidSignature},
		"a signature of nothing": {sample, "t=,v1=", fault.InvalidSignature},
		"only a time":            {sample, "t=1785758400", fault.InvalidSignature},
		"another version": {
			strings.Replace(sample, "2023-10-16", "2024-04-10", 1),
			sign(strings.Replace(sample, "2023-10-16", "2024-04-10", 1), at), fault.BadRequest,
		},
		"no event": {`{"id":"cus_1"}`, sign(`{"id":"cus_1"}`, at), fault.BadRequest},
		"no JSON":  {`hello`, sign(`hello`, at), fault.BadRequest},
	} {
		err := w.billing.Intake(t.Context(), []byte(c.body), c.signature, false)
		if c.want == "" && err != nil || c.want != "" && !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if n := w.count("SELECT count(*) FROM stripe_event"); n != 3 {
		t.Errorf("%d events stored, want 3", n)
	}
	if err := w.billing.Intake(t.Context(), []byte(sample), sign(sample, at), true); !fault.Is(err,
		fault.InvalidSignature) {
		t.Errorf("the platform's secret opens the other endpoint: %v", err)
	}
	closed := w.service(func(o *billing.Options) { o.Secret = "" })
	if err := closed.Intake(t.Context(), []byte(sample), stripe.Sign("", at, []byte(sample)), false); !fault.Is(err,
		fault.InvalidSignature) {
		t.Errorf("no secret, no check: %v", err)
	}
}

func TestAnEventIsStoredAndWorkedOnce(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) {
		arrived := o.Arrived
		o.Arrived = func(ctx context.Context, tx *postgres.Tx, event string) error { // stands in for the job
			tx.Queue("INSERT INTO billing_sync (name, position) VALUES ('job ' || $1, '')", event)
			return arrived(ctx, tx, event)
		}
	})
	org := w.on("solo_pro")
	all := w.outbox()
	w.deliver(all...)
	w.deliver(all...)
	if n, jobs := w.count("SELECT count(*) FROM stripe_event"),
		w.count("SELECT count(*) FROM billing_sync WHERE name LIKE 'job %'"); n != int64(len(all)) || jobs != n {
		t.Errorf("%d events stored with %d jobs, want %d", n, jobs, len(all))
	}
	w.hooks = append(w.hooks, w.hooks...)
	w.work()
	if n := w.count("SELECT count(*) FROM stripe_event WHERE worked_at IS NULL"); n != 0 {
		t.Errorf("%d events are not worked", n)
	}
	if n := w.planChanged(org); n != 1 {
		t.Errorf("%d plan.changed, want 1", n)
	}
}

// hash digests an org's state, without the times of the readings.
func (w *world) hash(org id.ID) (sum string) {
	w.Helper()
	err := w.sql.QueryRow(w.Context(), `SELECT md5(concat(
		(SELECT string_agg((to_jsonb(h) - 'read_at' - 'org_id')::text, '' ORDER BY stripe_id)
		FROM stripe_subscription h WHERE org_id = $1 AND live),
		(SELECT (to_jsonb(s) - '{org_id,created_at,updated_at,entitlement_version,past_due_since}'::text[])::text
		FROM subscription s WHERE org_id = $1)))`, org).Scan(&sum)
	if err != nil {
		w.Fatal(err)
	}
	return sum
}

// TestEventsInAnyOrderAndWithLossesLeadToOneState gives other databases, which know only the customer, the events of a
// long history: shuffled, duplicated, and a fifth of them lost. After one sync, all have the same state.
func TestEventsInAnyOrderAndWithLossesLeadToOneState(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	w.pass(5 * day)
	w.change(org, change.Request{Plan: "agency_growth", Interval: "month"}, billing.Applied)
	w.change(org, change.Request{Plan: "solo_starter", Interval: "month"}, billing.Scheduled)
	w.pass(30 * day)
	w.change(org, change.Request{Plan: "agency_scale", Interval: "year"}, billing.Applied)
	if _, err := w.billing.Cancel(t.Context(), org, change.Call{}); err != nil {
		t.Fatal(err)
	}
	events := w.outbox()
	w.deliver(events...)
	w.work()
	want := w.hash(org)
	if len(events) < 20 {
		t.Fatalf("only %d events", len(events))
	}
	for n := range 12 {
		other := w.elsewhere(org)
		sent := shuffled(uint64(n), events)
		other.deliver(sent...)
		other.work()
		if _, err := other.billing.Refresh(t.Context(), org, "sync"); err != nil {
			t.Fatal(err)
		}
		if got := other.hash(org); got != want {
			t.Errorf("order %d: another state (%s, not %s)", n, other.state(org), w.state(org))
		}
	}
}
