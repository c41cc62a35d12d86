package billing_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/id"
)

// clients sets the number of an agency's client orgs, in the counter that the limit uses.
func (w *world) clients(org id.ID, n int64) {
	w.Helper()
	if _, err := w.sql.Exec(w.Context(), "UPDATE quota SET used = $2 WHERE org_id = $1 AND feature = 'client_orgs'",
		org, n); err != nil {
		w.Fatal(err)
	}
}

func (w *world) overage(org id.ID) int64 {
	w.Helper()
	return w.count("SELECT overage_quantity FROM stripe_subscription WHERE org_id = $1 AND live", org)
}

func TestClientOrgsAboveThePlansNumberArePaidFor(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("agency_scale")
	limit := w.count("SELECT cap FROM quota WHERE org_id = $1 AND feature = 'client_orgs' AND overage", org)
	for i, used := range []int64{0, limit, limit + 3, limit + 1, limit - 1, limit + 2} {
		w.clients(org, used)
		off, err := w.billing.Overdrawn(t.Context())
		if err != nil || len(off) == 1 != (w.overage(org) != max(0, used-limit)) {
			t.Fatalf("%v are off, %v", off, err)
		}
		for _, one := range off {
			for range 2 { // a repetition with the same key has no effect
				if err := w.billing.Overage(t.Context(), one, "ov:"+string(rune('a'+i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := w.overage(org); got != max(0, used-limit) {
			t.Errorf("%d of %d used: Stripe charges for %d", used, limit, got)
		}
		if off, err = w.billing.Overdrawn(t.Context()); err != nil || len(off) != 0 {
			t.Errorf("still off: %v, %v", off, err)
		}
	}
	w.pass(3 * day)
	w.change(org, change.Request{Plan: "white_label_pro", Interval: "month"}, billing.Applied)
	w.want(org, "white_label_pro month active")
	off, err := w.billing.Overdrawn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range off {
		if err := w.billing.Overage(t.Context(), one, "ov:after"); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.overage(org); got != 0 {
		t.Errorf("%d charged above a number that was not reached", got)
	}
	w.change(org, change.Request{Plan: "solo_pro", Interval: "year", When: billing.Now}, billing.Applied)
	w.want(org, "solo_pro year active")
}
