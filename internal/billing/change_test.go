package billing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

func price(t *testing.T, plan, interval string) int64 {
	t.Helper()
	p, ok := plans.Standard().Plan(plan)
	if !ok {
		t.Fatalf("no plan %s", plan)
	}
	return p.Price(interval)
}

func TestTheTrialBecomesASubscription(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.org()
	w.want(org, "trial trialing")
	a := w.change(org, change.Request{Plan: "solo_pro", Interval: "month"}, billing.Applied)
	w.want(org, "solo_pro month active")
	want := price(t, "solo_pro", "month")
	if sum, times := w.charged(org); a.AmountDue != want || sum != want || times != 1 {
		t.Errorf("due %d, charged %d in %d, want %d once", a.AmountDue, sum, times, want)
	}
	if n := w.planChanged(org); n != 1 {
		t.Errorf("%d plan.changed, want 1", n)
	}
	w.told()
	if n := w.planChanged(org); n != 1 {
		t.Errorf("%d plan.changed after Stripe told us as well, want 1", n)
	}
	if a := w.change(org, change.Request{Plan: "solo_pro", Interval: "month"},
		billing.Unchanged); a.Change != nil {
		t.Error("nothing to do made a change")
	}
}

func TestAnUpgradeIsAtOnceAndADowngradeAtTheEnd(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	w.pass(10 * day)
	up := w.change(org, change.Request{Plan: "agency_growth", Interval: "month"}, billing.Applied)
	w.want(org, "agency_growth month active")
	diff := price(t, "agency_growth", "month") - price(t, "solo_pro", "month")
	if up.AmountDue <= 0 || up.AmountDue >= diff {
		t.Errorf("charged %d for 21 of 31 days of a difference of %d", up.AmountDue, diff)
	}
	down := w.change(org, change.Request{Plan: "solo_starter", Interval: "month"}, billing.Scheduled)
	w.want(org, "agency_growth month active then solo_starter")
	if want := noon.AddDate(0, 1, 0); !down.EffectiveAt.Equal(want) {
		t.Errorf("effective at %s, want %s", down.EffectiveAt, want)
	}
	if again := w.change(org, change.Request{Plan: "solo_starter", Interval: "month"},
		billing.Scheduled); again.Change.ID != down.Change.ID {
		t.Error("asking again made another change")
	}
	w.pass(22 * day)
	w.told()
	w.want(org, "solo_starter month active")
	if n := w.planChanged(org); n != 3 {
		t.Errorf("%d plan.changed, want 3", n)
	}
	w.pass(31 * day)
	w.told()
	w.want(org, "solo_starter month active")
}

func TestWhatIsScheduledIsUndoneAndSuperseded(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("agency_growth")
	down := w.change(org, change.Request{Plan: "solo_pro", Interval: "month"}, billing.Scheduled)
	for range 2 { // idempotent
		if a, err := w.billing.Undo(t.Context(), org, down.Change.ID, change.Call{}); err != nil ||
			a.Status != billing.Undone {
			t.Fatalf("undo: %+v, %v", a, err)
		}
	}
	w.want(org, "agency_growth month active")
	w.change(org, change.Request{Plan: "solo_pro", Interval: "month"}, billing.Scheduled)
	// another change replaces it
	w.change(org, change.Request{Plan: "solo_starter", Interval: "month"}, billing.Scheduled)
	w.want(org, "agency_growth month active then solo_starter")
	// an upgrade supersedes the scheduled change
	w.change(org, change.Request{Plan: "agency_scale", Interval: "month"}, billing.Applied)
	w.want(org, "agency_scale month active")
	w.pass(32 * day)
	w.told()
	w.want(org, "agency_scale month active")
}

func TestADeclinedUpgradeChangesNothingAndIsNeverChargedLater(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	down := w.change(org, change.Request{Plan: "solo_starter", Interval: "month"}, billing.Scheduled)
	before, _ := w.charged(org)
	w.card(org, stripe.Decline)
	w.refused(org, change.Request{Plan: "agency_growth", Interval: "month"}, fault.PaymentDeclined)
	w.want(org, "solo_pro month active then solo_starter")
	w.card(org, stripe.Works)
	w.pass(3 * day)
	w.told()
	w.want(org, "solo_pro month active then solo_starter")
	if after, _ := w.charged(org); after != before {
		t.Errorf("charged %d for a declined change", after-before)
	}
	if got := w.state(org); got != "solo_pro month active then solo_starter" || down == nil {
		t.Error(got)
	}
	w.change(org, change.Request{Plan: "agency_growth", Interval: "month"}, billing.Applied)
}

func TestADeclinedFirstPaymentLeavesTheTrial(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.org()
	if _, err := w.billing.Preview(t.Context(), org, change.Request{Plan: "solo_pro", Interval: "year"},
		nil); err != nil {
		t.Fatal(err) // creates the customer
	}
	w.card(org, stripe.Decline)
	w.refused(org, change.Request{Plan: "solo_pro", Interval: "year"}, fault.PaymentDeclined)
	w.told()
	w.want(org, "trial trialing")
	w.card(org, stripe.Works)
	w.change(org, change.Request{Plan: "solo_pro", Interval: "year"}, billing.Applied)
	w.want(org, "solo_pro year active")
	if sum, times := w.charged(org); times != 1 || sum != price(t, "solo_pro", "year") {
		t.Errorf("charged %d in %d", sum, times)
	}
}

func TestAPaymentThatMustBeConfirmedGrantsNothingBefore(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"confirmed", "refused", "left", "undone"} {
		t.Run(ends, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			org := w.on("solo_pro")
			paid, _ := w.charged(org)
			w.card(org, stripe.ThreeDS)
			a := w.change(org, change.Request{Plan: "agency_growth", Interval: "month"}, billing.ActionRequired)
			if a.ClientSecret == "" {
				t.Fatal("no client secret to confirm the payment with")
			}
			if a.HostedURL == "" {
				t.Fatal("no hosted page to confirm the payment on")
			}
			if a.Until == nil {
				t.Fatal("no time by which the payment must be confirmed")
			}
			again := w.change(org, change.Request{Plan: "agency_growth", Interval: "month"},
				billing.ActionRequired)
			if again.Change.ID != a.Change.ID || again.ClientSecret != a.ClientSecret {
				t.Error("asking again is another change")
			}
			w.refused(org, change.Request{Plan: "agency_scale", Interval: "month"}, fault.ChangeInFlight)
			w.told()
			w.want(org, "solo_pro month active action_required")
			intent, _, _ := strings.Cut(a.ClientSecret, "_secret_")
			switch ends {
			case "confirmed":
				if err := w.box.Confirm(t.Context(), intent, true); err != nil {
					t.Fatal(err)
				}
				w.told()
				w.want(org, "agency_growth month active")
				if sum, _ := w.charged(org); sum-paid != a.AmountDue || a.AmountDue <= 0 {
					t.Errorf("charged %d, said %d", sum-paid, a.AmountDue)
				}
				return
			case "refused":
				if err := w.box.Confirm(t.Context(), intent, false); err != nil {
					t.Fatal(err)
				}
				w.told()
				w.pass(24 * time.Hour)
			case "left":
				w.pass(24 * time.Hour)
			case "undone":
				if got, err := w.billing.Undo(t.Context(), org, a.Change.ID, change.Call{}); err != nil ||
					got.Status != billing.Undone {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			w.told()
			w.want(org, "solo_pro month active")
			if sum, _ := w.charged(org); sum != paid {
				t.Errorf("charged %d for what was never confirmed", sum-paid)
			}
			w.card(org, stripe.Works)
			w.change(org, change.Request{Plan: "agency_growth", Interval: "month"}, billing.Applied)
		})
	}
}

func TestACancellationEndsThePlanWithThePeriodAndMayBeTakenBack(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	a, err := w.billing.Cancel(t.Context(), org, change.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != billing.Scheduled {
		t.Fatalf("status %v, want %v", a.Status, billing.Scheduled)
	}
	if a.Plan != "solo_pro" {
		t.Fatalf("plan %q, want solo_pro", a.Plan)
	}
	if again, err := w.billing.Cancel(t.Context(), org, change.Call{}); err != nil || again.Change.ID != a.Change.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	w.want(org, "solo_pro month active ends then")
	if a, err = w.billing.Resume(t.Context(), org, change.Call{}); err != nil || a.Status != billing.Undone {
		t.Fatalf("%+v, %v", a, err)
	}
	w.want(org, "solo_pro month active")
	if a, err = w.billing.Resume(t.Context(), org, change.Call{}); err != nil || a.Status != billing.Unchanged {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err = w.billing.Cancel(t.Context(), org, change.Call{}); err != nil {
		t.Fatal(err)
	}
	w.pass(30 * day)
	w.told()
	w.want(org, "solo_pro month active ends then")
	w.pass(2 * day)
	w.told()
	w.want(org, "solo_pro month canceled")
	// and the org can subscribe again
	w.change(org, change.Request{Plan: "solo_starter", Interval: "month"}, billing.Applied)
	w.want(org, "solo_starter month active")
}

func TestAnUpgradeTakesACancellationBack(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	if _, err := w.billing.Cancel(t.Context(), org, change.Call{}); err != nil {
		t.Fatal(err)
	}
	w.change(org, change.Request{Plan: "agency_growth", Interval: "month"}, billing.Applied)
	w.want(org, "agency_growth month active")
}

func TestWhatCannotBeChosen(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	w.refused(org, change.Request{Plan: "white_label_enterprise", Interval: "month"}, fault.ContactSales)
	w.refused(org, change.Request{Plan: "trial", Interval: "month"}, fault.ValidationFailed)
	w.refused(org, change.Request{Plan: "gold", Interval: "month"}, fault.ValidationFailed)
	client := w.org()
	if _, err := w.sql.Exec(t.Context(), "UPDATE org SET parent_org_id = $2 WHERE id = $1", client, org); err != nil {
		t.Fatal(err)
	}
	w.refused(client, change.Request{Plan: "solo_pro", Interval: "month"}, fault.Conflict) // the agency pays
	if _, err := w.billing.Cancel(t.Context(), w.org(), change.Call{}); !fault.Is(err, fault.NoSubscription) {
		t.Error(err)
	}
}

func TestThereIsNoProrationOnAnUnpaidInvoice(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_pro")
	w.card(org, stripe.Decline)
	w.pass(32 * day)
	w.told()
	w.want(org, "solo_pro month past_due")
	w.refused(org, change.Request{Plan: "agency_growth", Interval: "month"}, fault.PaymentPastDue)
}

// TestAFailureThatStripeKeepsWithAKeyLastsNoDay makes Stripe respond with a 500 once to each repeatable request. Stripe
// stores the response with the key for a day; the change is nevertheless closed within a minute.
func TestAFailureThatStripeKeepsWithAKeyLastsNoDay(t *testing.T) {
	t.Parallel()
	for _, kind := range []stripe.FaultKind{stripe.Internal, stripe.ActedError} {
		w := begin(t)
		org := w.org()
		w.box.Break(stripe.Fault{Kind: kind, Method: "POST", Path: "/v1/customers", Times: 1})
		w.refused(org, change.Request{Plan: "solo_pro", Interval: "year"}, fault.Unavailable)
		w.change(org, change.Request{Plan: "solo_pro", Interval: "year"}, billing.Applied)

		for step := range 3 { // the schedule, its phases, and its release
			w.box.Break(stripe.Fault{
				Kind: kind, Method: "POST", Path: "/v1/subscription_schedules", Skip: step,
				Times: 1,
			})
			a, err := w.billing.Change(t.Context(), org,
				change.Request{Plan: "solo_starter", Interval: "month"}, change.Call{})
			w.box.Break(stripe.Fault{Kind: kind, Method: "POST", Path: "/v1/subscription_schedules", Times: 1})
			w.pass(time.Minute)
			for range 3 {
				w.tried()
			}
			if n := w.count("SELECT count(*) FROM plan_change WHERE org_id = $1 AND state = 'in_flight'", org); n != 0 {
				t.Fatalf("%s at request %d: %d changes are in flight a minute later (%+v, %v)", kind, step, n, a, err)
			}
			w.box.Mend()
			var scheduled id.ID
			if w.sql.QueryRow(t.Context(), "SELECT id FROM plan_change WHERE org_id = $1 AND state = 'scheduled'",
				org).Scan(&scheduled) == nil {
				if _, err := w.billing.Undo(t.Context(), org, scheduled, change.Call{}); err != nil {
					t.Fatalf("%s at request %d: undo: %v", kind, step, err)
				}
			}
			w.want(org, "solo_pro year active")
		}
	}
}

func TestChangesOfOneSecondKeepTheirInvoicesApart(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("solo_starter")
	w.pass(day)
	w.change(org, change.Request{Plan: "solo_pro", Interval: "month"}, billing.Applied)
	w.change(org, change.Request{Plan: "agency_scale", Interval: "month"}, billing.Applied)
	w.box.Break(stripe.Fault{Kind: stripe.ActedError, Method: "POST", Path: "/v1/subscriptions", Times: 1})
	w.refused(org, change.Request{Plan: "white_label_pro", Interval: "month"}, fault.Unavailable)
	w.pass(time.Minute)
	w.recover()
	w.want(org, "white_label_pro month active")
	if n := w.count("SELECT count(DISTINCT invoice_id) FROM plan_change WHERE org_id = $1 AND state = 'applied'",
		org); n != 4 {
		t.Errorf("4 changes have %d invoices", n)
	}
	if sum, _ := w.charged(org); sum != w.count("SELECT sum(amount_due) FROM plan_change WHERE org_id = $1", org) {
		t.Errorf("%d was charged, and the changes say otherwise", sum)
	}
}

// tried runs the jobs of changes in flight, which may fail.
func (w *world) tried() {
	w.Helper()
	rows, err := w.sql.Query(w.Context(), "SELECT org_id, id FROM plan_change WHERE state = 'in_flight'")
	if err != nil {
		w.Fatal(err)
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Org, Change id.ID }])
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range open {
		if err := w.billing.Recover(w.Context(), c.Org, c.Change); err != nil && !billing.Away(err) {
			w.Fatalf("recover: %v", err)
		}
	}
}
