package billing_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

func tally(all []billing.Published) map[string]int {
	n := map[string]int{}
	for _, p := range all {
		n[p.Done]++
	}
	return n
}

func TestPublishingIsIdempotentAndADryRunMakesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t) // has published
	all, err := w.billing.Publish(t.Context(), false)
	if err != nil || tally(all)["kept"] != len(all) || len(all) < 10 {
		t.Fatalf("%v, %v", tally(all), err)
	}
	for i := range plans.Standard().Plans {
		p := &plans.Standard().Plans[i]
		if n := w.count("SELECT count(*) FROM billing_price WHERE plan = $1 AND kind = 'base' AND NOT replaced", p.Key); p.Selectable() != (n == 2) {
			t.Errorf("%s has %d prices", p.Key, n)
		}
	}

	dearer := *plans.Standard()
	dearer.Plans = append([]plans.Plan(nil), dearer.Plans...)
	for i := range dearer.Plans {
		if dearer.Plans[i].Key == "solo_pro" {
			dearer.Plans[i].Month += 500
		}
	}
	org := w.on("solo_pro")
	next := w.service(func(o *billing.Options) { o.Catalogue = &dearer })
	before := w.count("SELECT count(*) FROM billing_price")
	if all, err = next.Publish(t.Context(), true); err != nil || tally(all)["renewed"] != 1 || w.count("SELECT count(*) FROM billing_price") != before {
		t.Fatalf("dry run: %v, %v", tally(all), err)
	}
	for _, want := range []map[string]int{{"renewed": 1, "kept": len(all) - 1}, {"kept": len(all)}} {
		if all, err = next.Publish(t.Context(), false); err != nil || tally(all)["renewed"] != want["renewed"] || tally(all)["kept"] != want["kept"] {
			t.Fatalf("%v, %v; want %v", tally(all), err, want)
		}
	}
	w.want(org, "solo_pro month active") // who has the old price keeps it
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
