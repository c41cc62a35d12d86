package billing_test

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// changes is the number of random changes of plan; the long run uses -changes=10000.
var changes = flag.Int("changes", 400/slower, "random changes of plan to try")

var (
	keys      = []string{"solo_starter", "solo_pro", "agency_growth", "agency_scale", "white_label_pro"}
	intervals = []string{"month", "year"}
)

func (w *world) preview(org id.ID, wish change.Request) *change.Preview {
	w.Helper()
	p, err := w.billing.Preview(w.Context(), org, wish, nil)
	if err != nil {
		w.Fatalf("preview of %s by the %s: %v", wish.Plan, wish.Interval, err)
	}
	return p
}

func TestExactlyThePreviewedAmountIsCharged(t *testing.T) {
	t.Parallel()
	const (
		workers = 4
		age     = 100 // changes per world; time steps visit all orgs of a world
	)
	for n := range workers {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			share, r := *changes/workers, rand.New(rand.NewPCG(uint64(n), 7))
			for tried := 0; tried < share && !t.Failed(); tried += age {
				t.Run(strconv.Itoa(tried), func(t *testing.T) { chargedAsPreviewed(t, r, min(age, share-tried)) })
			}
		})
	}
}

// chargedAsPreviewed makes random changes in a new world.
func chargedAsPreviewed(t *testing.T, r *rand.Rand, changes int) {
	w := begin(t)
	for tried := 0; tried < changes; {
		org := w.org()
		for range 1 + r.IntN(8) {
			wish := change.Request{
				Plan: keys[r.IntN(len(keys))], Interval: intervals[r.IntN(2)],
				When: billing.Now,
			}
			p, at := w.preview(org, wish), w.now()
			if r.IntN(2) == 0 { // accepted later
				w.pass(time.Duration(r.IntN(590)) * time.Second)
			}
			charged, _ := w.charged(org) // includes renewals
			wish.Preview = &p.ID
			a, err := w.billing.Change(t.Context(), org, wish, change.Call{})
			if fault.Is(err, fault.PreviewStale) &&
				w.count("SELECT count(*) FROM stripe_subscription WHERE org_id = $1 AND period_start > $2", org,
					at) == 1 {
				continue // a new period began in between
			}
			if err != nil {
				t.Fatalf("%+v: %v", wish, err)
			}
			if a.Status == billing.Unchanged {
				continue
			}
			tried++
			sum, _ := w.charged(org)
			if sum-charged != p.AmountDue || a.AmountDue != p.AmountDue {
				t.Fatalf("%s by the %s: previewed %d, said %d, charged %d", wish.Plan, wish.Interval, p.AmountDue,
					a.AmountDue, sum-charged)
			}
			w.pass(time.Duration(r.IntN(9*24*3600)) * time.Second)
		}
	}
}

func TestAPreviewOfThePlanThatOneHasCostsNothingEvenWhereItEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	same := change.Request{Plan: "solo_pro", Interval: "month", When: billing.Now}
	for _, cancelled := range []bool{false, true} {
		if cancelled {
			if _, err := w.billing.Cancel(t.Context(), org, change.Call{}); err != nil {
				t.Fatal(err)
			}
		}
		p := w.preview(org, same)
		if p.AmountDue != 0 {
			t.Errorf("cancelled %v: %d is due", cancelled, p.AmountDue)
		}
		if len(p.Lines) != 0 {
			t.Errorf("cancelled %v: lines %+v", cancelled, p.Lines)
		}
		if p.Currency != "USD" {
			t.Errorf("cancelled %v: currency %q", cancelled, p.Currency)
		}
	}
}

func TestAPreviewIsOnlyGoodForWhatItWasMadeFor(t *testing.T) {
	t.Parallel()
	up := change.Request{Plan: "agency_growth", Interval: "month"}
	for name, spoil := range map[string]func(w *world, org id.ID, wish *change.Request){
		"another plan":     func(_ *world, _ id.ID, wish *change.Request) { wish.Plan = "agency_scale" },
		"another interval": func(_ *world, _ id.ID, wish *change.Request) { wish.Interval = "year" },
		"another time":     func(_ *world, _ id.ID, wish *change.Request) { wish.When = billing.PeriodEnd },
		"too late":         func(w *world, _ id.ID, _ *change.Request) { w.pass(10 * time.Minute) },
		"another base": func(w *world, org id.ID, _ *change.Request) {
			w.change(org, change.Request{Plan: "solo_starter", Interval: "month", When: billing.Now},
				billing.Applied)
		},
		"somebody else's": func(w *world, _ id.ID, wish *change.Request) {
			p := w.preview(w.on("solo_pro"), up)
			wish.Preview = &p.ID
		},
		"none at all": func(_ *world, _ id.ID, wish *change.Request) { x := id.New(); wish.Preview = &x },
		"a credit has come": func(w *world, org id.ID, _ *change.Request) {
			w.post("/v1/customers/"+w.customer(org)+"/balance_transactions", "amount=-500&currency=usd")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			org := w.on("solo_pro")
			w.pass(3 * day)
			p, wish := w.preview(org, up), up
			wish.Preview = &p.ID
			before, _ := w.charged(org)
			spoil(w, org, &wish)
			state := w.state(org)
			w.refused(org, wish, fault.PreviewStale)
			if after, _ := w.charged(org); after != before {
				t.Errorf("charged %d by a stale preview", after-before)
			}
			w.want(org, state)
		})
	}
}

func TestThereAndBackAtOneInstantNetsNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	paid, _ := w.charged(org)
	w.pass(11*day + 3*time.Hour + 17*time.Second)
	w.change(org, change.Request{Plan: "agency_scale", Interval: "month"}, billing.Applied)
	w.change(org, change.Request{Plan: "solo_pro", Interval: "month", When: billing.Now}, billing.Applied)
	sum, _ := w.charged(org)
	if credit := w.credit(org); sum-paid != credit {
		t.Errorf("paid %d and has a credit of %d for nothing", sum-paid, credit)
	}
}

// TestChainedChangesConserveMoney compares the charges of a chain of changes within one period with the exact rational
// price of each plan's time. The tolerance is half a unit for each of a change's two lines.
func TestChainedChangesConserveMoney(t *testing.T) {
	t.Parallel()
	w, r := begin(t), rand.New(rand.NewPCG(3, 5))
	for range max(*changes/20, 5) {
		plan := keys[r.IntN(len(keys))]
		org := w.on(plan)
		period, changes := w.count(
			"SELECT extract(epoch FROM period_end - period_start)::bigint FROM stripe_subscription WHERE org_id = $1",
			org), int64(0)
		left, exact := period, int64(0) // sum of price x seconds
		for range 1 + r.IntN(8) {
			d := int64(r.IntN(int(left / 2)))
			exact += price(t, plan, "month") * d
			left -= d
			w.pass(time.Duration(d) * time.Second)
			next := keys[r.IntN(len(keys))]
			if next == plan {
				continue
			}
			w.change(org, change.Request{Plan: next, Interval: "month", When: billing.Now}, billing.Applied)
			plan, changes = next, changes+1
		}
		exact += price(t, plan, "month") * left
		sum, _ := w.charged(org)
		net := sum - w.credit(org)
		if off := net*period - exact; off > changes*period || off < -changes*period {
			t.Errorf("%d changes: net %d for an exact %d/%d", changes, net, exact, period)
		}
	}
}
