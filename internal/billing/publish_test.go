package billing_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

func tally(all []sync.Published) map[string]int {
	n := map[string]int{}
	for _, p := range all {
		n[p.Done]++
	}
	return n
}

func TestPublishingIsIdempotentAndADryRunMakesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t) // begin has published
	all, err := w.billing.Publish(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if n := tally(all)["kept"]; n != len(all) {
		t.Fatalf("%d of %d prices are kept, want all: %v", n, len(all), tally(all))
	}
	if len(all) < 10 {
		t.Fatalf("%d prices, want at least 10", len(all))
	}
	for i := range plans.Standard().Plans {
		p := &plans.Standard().Plans[i]
		if n := w.count("SELECT count(*) FROM billing_price WHERE plan = $1 AND kind = 'base' AND NOT replaced",
			p.Key); p.Selectable() != (n == 2) {
			t.Errorf("%s has %d prices", p.Key, n)
		}
	}

	org := w.on("solo_pro")
	next := w.service(func(o *billing.Options) { o.Catalogue = dearer(false) })
	before := w.count("SELECT count(*) FROM billing_price")
	if all, err = next.Publish(t.Context(), true); err != nil {
		t.Fatalf("dry run: %v", err)
	}
	if n := tally(all)["renewed"]; n != 1 {
		t.Fatalf("dry run: %d renewed, want 1: %v", n, tally(all))
	}
	if n := w.count("SELECT count(*) FROM billing_price"); n != before {
		t.Fatalf("dry run: %d prices in the database, %d before", n, before)
	}
	for _, want := range []map[string]int{{"renewed": 1, "kept": len(all) - 1}, {"kept": len(all)}} {
		if all, err = next.Publish(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		for _, done := range []string{"renewed", "kept"} {
			if n := tally(all)[done]; n != want[done] {
				t.Fatalf("%d %s, want %d", n, done, want[done])
			}
		}
	}
	w.want(org, "solo_pro month active") // an existing subscription keeps the old price
	if _, err := next.Refresh(t.Context(), org, "sync"); err != nil {
		t.Fatal(err)
	}
	w.want(org, "solo_pro month active")
	if all, err = w.billing.Publish(t.Context(), false); err != nil || tally(all)["renewed"] != 1 { // and back
		t.Fatalf("%v, %v", tally(all), err)
	}
	if all, err = w.billing.Publish(t.Context(), false); err != nil || tally(all)["kept"] != len(all) {
		t.Errorf("%v, %v", tally(all), err)
	}
}

func TestPublishingOutlastsWhatPasses(t *testing.T) {
	t.Parallel()
	for _, kind := range []stripe.FaultKind{
		stripe.InUse, stripe.LockTimeout, stripe.RateLimited, stripe.Internal,
		stripe.ActedError, stripe.CutBefore, stripe.CutAfter,
	} {
		for _, path := range []string{"/v1/products", "/v1/prices"} {
			t.Run(string(kind)+" "+path, func(t *testing.T) {
				t.Parallel()
				w := begin(t)
				next := w.service(func(o *billing.Options) {
					o.Catalogue = dearer(true)
					o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
				})
				var struck atomic.Bool
				w.box.Break(stripe.Fault{Kind: kind, Method: "POST", Path: path, Times: 3, Struck: func() {
					struck.Store(true)
				}})
				if _, err := next.Publish(t.Context(), false); err != nil {
					t.Fatal(err)
				}
				if n := w.count("SELECT count(*) FROM billing_price WHERE plan = 'solo_more' AND NOT replaced"); n !=
					2 || !struck.Load() {
					t.Errorf("%d prices, want 2; struck: %t", n, struck.Load())
				}
			})
		}
	}
}

func TestAnOutageIsPublishingsErrorAndOneThatKeepsPublishingWaitsForItsEnd(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.box.Break(stripe.Fault{Kind: stripe.InUse, Method: "POST", Path: "/v1/prices", Times: -1})
	var waits []time.Duration
	ended, end := context.WithCancel(t.Context())
	next := w.service(func(o *billing.Options) {
		o.Catalogue = dearer(false)
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			switch waits = append(waits, d); len(waits) {
			case 20:
				w.box.Mend()
			case 40:
				end()
			}
			return ctx.Err()
		}
	})
	if _, err := next.Publish(t.Context(), false); err == nil {
		t.Error("published though Stripe refused everything")
	}
	if err := next.KeepPublishing(t.Context()); err != nil {
		t.Error(err)
	}
	if n := w.count("SELECT count(*) FROM billing_price WHERE plan = 'solo_pro' AND replaced"); n != 1 ||
		len(waits) < 20 {
		t.Errorf("%d prices replaced after %d waits", n, len(waits))
	}
	for _, d := range waits {
		if d <= 0 || d > 30*time.Second {
			t.Errorf("a wait of %s", d)
		}
	}
	w.box.Break(stripe.Fault{Kind: stripe.InUse, Times: -1})
	if err := next.KeepPublishing(ended); !errors.Is(err, context.Canceled) { // returns when its process ends
		t.Error(err)
	}
}

// dearer returns the catalogue with another price of solo_pro; with renamed, also with a product that does not exist
// yet.
func dearer(renamed bool) *plans.Catalogue {
	c := *plans.Standard()
	c.Plans = append([]plans.Plan(nil), c.Plans...)
	for i := range c.Plans {
		if c.Plans[i].Key == "solo_pro" {
			c.Plans[i].Month += 500
			if renamed {
				c.Plans[i].Key = "solo_more"
			}
		}
	}
	return &c
}
