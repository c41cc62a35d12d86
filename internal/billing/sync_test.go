package billing_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// walked is the number of subscriptions of the full sync's test; the long run uses -subscriptions=10000.
var walked = flag.Int("subscriptions", 400/slower, "subscriptions to sync")

// sleeps advances the world's clock instead of waiting.
func (w *world) sleeps(_ context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(max(d, 0))
	return nil
}

// crowd creates orgs with one subscription each, directly at Stripe and in the mirror. One in twenty differs.
func (w *world) crowd(n int) (orgs []id.ID, off int) {
	w.Helper()
	first := w.on("solo_pro")
	var price string
	if err := w.sql.QueryRow(w.Context(), "SELECT price_id FROM stripe_subscription WHERE org_id = $1", first).
		Scan(&price); err != nil {
		w.Fatal(err)
	}
	for i := range n {
		org := w.org()
		cus := w.post("/v1/customers", "metadata[org_id]="+org.String())["id"].(string)
		sub := w.post("/v1/subscriptions", "customer="+cus+"&items[0][price]="+price)
		if _, err := w.sql.Exec(w.Context(),
			"INSERT INTO billing_customer (org_id, stripe_id, stripe_key, keyed_at) VALUES ($1, $2, $3, now())", org,
			cus, "cus:"+org.String()); err != nil {
			w.Fatal(err)
		}
		orgs = append(orgs, org)
		if i%20 == 0 { // differs from the mirror without an event
			off++
			continue
		}
		inv, _ := sub["latest_invoice"].(string)
		items, _ := sub["items"].(map[string]any)
		item, _ := items["data"].([]any)[0].(map[string]any)
		at := func(key string) time.Time {
			f, _ := sub[key].(float64)
			return time.Unix(int64(f), 0)
		}
		if _, err := w.sql.Exec(w.Context(),
			`INSERT INTO stripe_subscription VALUES ($1, $2, true, 'active', 'solo_pro', 'month', $3, $4, 1, '',
				'', 0, $5, $6, false, '', NULL, $7, now())`,
			org, sub["id"], price, item["id"], at("current_period_start"), at("current_period_end"), inv); err != nil {
			w.Fatal(err)
		}
		if _, err := w.sql.Exec(w.Context(),
			"UPDATE subscription SET plan = 'solo_pro', interval = 'month', status = 'active', "+
				"stripe_subscription_id = $2 WHERE org_id = $1", org, sub["id"]); err != nil {
			w.Fatal(err)
		}
	}
	return orgs, off
}

func TestAWholeSyncKeepsItsBudgetAndMendsWhatDiffers(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	orgs, off := w.crowd(*walked)
	began := w.now()
	r, err := w.billing.ReconcileAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != 0 {
		t.Fatalf("%d failed, want 0", r.Failed)
	}
	if r.Repaired != off {
		t.Fatalf("%d repaired, want %d", r.Repaired, off)
	}
	if want := len(orgs) + 1 - off; r.Same != want {
		t.Fatalf("%d unchanged, want %d", r.Same, want)
	}
	took := w.now().Sub(began)
	if limit := time.Duration(len(orgs)+1) * 60 * time.Millisecond; took > limit { // 10,000 in 10 minutes
		t.Errorf("took %s for %d subscriptions, want at most %s", took, len(orgs), limit)
	}
	if least := time.Duration(len(orgs)) * time.Second / billing.Budget; took < least {
		t.Errorf("took %s, which is more than %d requests a second", took, billing.Budget)
	}
	repairs := 0
	for _, act := range w.acts() {
		if act == "billing.repaired" {
			repairs++
		}
	}
	if repairs != off {
		t.Errorf("%d repairs are audited, want %d", repairs, off)
	}
	w.want(orgs[0], "solo_pro month active")
	if r, err := w.billing.ReconcileAll(t.Context()); err != nil || r.Repaired != 0 {
		t.Errorf("again: %+v, %v", r, err)
	}
}

func TestOneBadSubscriptionBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	orgs, off := w.crowd(40)
	product := w.post("/v1/products", "name=Strange")["id"].(string)
	price := w.post("/v1/prices",
		"product="+product+"&currency=usd&unit_amount=1&recurring[interval]=month")["id"].(string)
	var sub, item string
	if err := w.sql.QueryRow(t.Context(), "SELECT stripe_id, item_id FROM stripe_subscription WHERE org_id = $1",
		orgs[1]).Scan(&sub, &item); err != nil {
		t.Fatal(err)
	}
	// an unknown price
	w.post("/v1/subscriptions/"+sub, fmt.Sprintf("items[0][id]=%s&items[0][price]=%s", item, price))
	r, err := w.billing.ReconcileAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != 1 {
		t.Errorf("%d failed, want 1", r.Failed)
	}
	if r.Repaired != off {
		t.Errorf("%d repaired, want %d", r.Repaired, off)
	}
	w.want(orgs[1], "solo_pro month active")
}

func TestASyncGivesWayTo429(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	orgs, off := w.crowd(20)
	w.box.Break(stripe.Fault{Kind: stripe.RateLimited, Method: http.MethodGet, Skip: 5, Times: 3})
	began := w.now()
	r, err := w.billing.ReconcileAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != 0 {
		t.Errorf("%d failed, want 0", r.Failed)
	}
	if r.Repaired != off {
		t.Errorf("%d repaired, want %d", r.Repaired, off)
	}
	if took := w.now().Sub(began); took < 1*time.Second+2*time.Second+4*time.Second {
		t.Errorf("waited %s in all after three refusals in a row, want 7 s of that", took)
	}
	_ = orgs
}

func TestEventsThatNeverCameAreFetched(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	org := w.on("solo_pro")
	w.told()
	if n, err := w.billing.FetchMissedEvents(t.Context()); err != nil ||
		n != 0 && w.count("SELECT count(*) FROM stripe_event WHERE source = 'sync'") != int64(n) {
		t.Fatalf("%d, %v", n, err)
	}
	w.work()
	w.pass(32 * day) // a renewal without an event
	_ = w.outbox()   // lost
	was := w.count("SELECT extract(epoch FROM period_end)::bigint FROM stripe_subscription WHERE org_id = $1", org)
	n, err := w.billing.FetchMissedEvents(t.Context())
	if err != nil || n == 0 {
		t.Fatalf("%d found, %v", n, err)
	}
	w.work()
	if is := w.count("SELECT extract(epoch FROM period_end)::bigint FROM stripe_subscription WHERE org_id = $1",
		org); is <= was {
		t.Error("the renewal was not found")
	}
	if n, err := w.billing.FetchMissedEvents(t.Context()); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestAPeriodThatIsOverIsLookedAt(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	w.on("solo_pro")
	if r, err := w.billing.ReconcileDue(t.Context()); err != nil || r.Same+r.Repaired != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.pass(32 * day)
	if r, err := w.billing.ReconcileDue(t.Context()); err != nil || r.Repaired != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
