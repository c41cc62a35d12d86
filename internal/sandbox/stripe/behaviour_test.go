package stripe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
)

func TestRenewalsAreDraftedAtThePeriodsEndAndPaidAnHourLater(t *testing.T) {
	t.Parallel()
	for name, store := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldOn(t, store(t))
			cus := w.customer()
			s := w.subscribe(cus.ID, w.price(2000, "month"))
			end := time.Unix(s.CurrentPeriodEnd, 0)
			w.advance(end.Sub(epoch) - time.Second)
			if w.sub(s.ID).CurrentPeriodStart != epoch.Unix() {
				t.Error("renewed too early")
			}
			w.advance(time.Second)
			s = w.sub(s.ID)
			from, to := end.Unix(), end.AddDate(0, 1, 0).Unix()
			if s.CurrentPeriodStart != from || s.CurrentPeriodEnd != to {
				t.Errorf("at the end: %d to %d, want %d to %d", s.CurrentPeriodStart, s.CurrentPeriodEnd, from, to)
			}
			if paid := w.paid(cus.ID); s.LatestInvoice.Status != "draft" || paid != 2000 {
				t.Errorf("at the end: invoice %s, paid %d; want draft, 2000", s.LatestInvoice.Status, paid)
			}
			w.advance(time.Hour)
			s = w.sub(s.ID)
			if inv, paid := s.LatestInvoice, w.paid(cus.ID); inv.Status != "paid" ||
				inv.BillingReason != "subscription_cycle" || paid != 4000 {
				t.Errorf("an hour later: invoice %s for %s, paid %d; want paid for subscription_cycle, 4000",
					inv.Status, inv.BillingReason, paid)
			}
			w.advance(365 * 24 * time.Hour)
			if got := w.paid(cus.ID); got != 2000*14 {
				t.Errorf("a year later %d were paid", got)
			}
		})
	}
}

// stores returns the two implementations of Store.
func stores() map[string]func(*testing.T) stripe.Store {
	return map[string]func(*testing.T) stripe.Store{
		"memory":   func(*testing.T) stripe.Store { return stripememory.New() },
		"postgres": func(t *testing.T) stripe.Store { return stripe.Postgres{System: testkit.DB(t).System} },
	}
}

func TestADeclineAtTheRenewalMakesItPastDueUntilPaidOrEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wait   time.Duration // after the first decline, before the card works again; 0 for never
		status api.SubscriptionStatus
	}{{2 * 24 * time.Hour, "active"}, {7 * 24 * time.Hour, "active"}, {0, "canceled"}} {
		w := newWorld(t)
		cus := w.customer()
		s := w.subscribe(cus.ID, w.price(2000, "month"))
		w.card(cus.ID, stripe.Decline)
		w.advance(30*24*time.Hour + time.Hour)
		if s = w.sub(s.ID); s.Status != "past_due" || s.LatestInvoice.Status != "open" ||
			s.LatestInvoice.AttemptCount != 1 {
			t.Fatalf("%s, invoice %s after %d attempts; want past_due, open after 1", s.Status,
				s.LatestInvoice.Status, s.LatestInvoice.AttemptCount)
		}
		if got := s.LatestInvoice.NextPaymentAttempt; got != epoch.Add(33*24*time.Hour+time.Hour).Unix() {
			t.Errorf("next try at %d", got)
		}
		if c.wait > 0 {
			w.advance(c.wait)
			w.card(cus.ID, stripe.Works)
		}
		w.advance(15 * 24 * time.Hour)
		if s = w.sub(s.ID); s.Status != c.status {
			t.Errorf("after %s: %s", c.wait, s.Status)
		}
		if c.status == "canceled" {
			inv, reason := s.LatestInvoice, s.CancellationDetails.Reason
			if reason != "payment_failed" || inv.Status != "open" || inv.AttemptCount != 4 {
				t.Errorf("canceled for %s, invoice %s after %d attempts; want payment_failed, open after 4", reason,
					inv.Status, inv.AttemptCount)
			}
		}
	}
}

func TestAFirstPaymentIsMadeByTheCustomerOrTheSubscriptionExpires(t *testing.T) {
	t.Parallel()
	for _, paid := range []bool{true, false} {
		w := newWorld(t)
		cus := w.customer()
		p := &api.SubscriptionParams{
			Customer: api.String(cus.ID), PaymentBehavior: api.String("default_incomplete"),
			Items: []*api.SubscriptionItemsParams{{Price: api.String(w.price(2000, "month").ID)}},
		}
		p.AddExpand("latest_invoice.payment_intent")
		s := must(w.sc.Subscriptions.New(p))(t)
		if pi := s.LatestInvoice.PaymentIntent; s.Status != "incomplete" || pi.Status != "requires_confirmation" ||
			pi.Amount != 2000 {
			t.Fatalf("%s, payment %s of %d; want incomplete, requires_confirmation of 2000", s.Status, pi.Status,
				pi.Amount)
		}
		if paid {
			must(w.sc.PaymentIntents.Confirm(s.LatestInvoice.PaymentIntent.ID, nil))(t)
		}
		w.advance(23 * time.Hour)
		want := map[bool]api.SubscriptionStatus{true: "active", false: "incomplete_expired"}[paid]
		if s = w.sub(s.ID); s.Status != want {
			t.Errorf("%s, want %s", s.Status, want)
		}
		if status := map[bool]api.InvoiceStatus{true: "paid", false: "void"}[paid]; s.LatestInvoice.Status != status {
			t.Errorf("invoice %s", s.LatestInvoice.Status)
		}
	}
}

func TestADowngradeByScheduleHappensAtThePeriodsEndAndCanBeReleased(t *testing.T) {
	t.Parallel()
	for _, undone := range []bool{false, true} {
		w := newWorld(t)
		big, small := w.price(5000, "month"), w.price(2000, "month")
		cus := w.customer()
		s := w.subscribe(cus.ID, big)
		w.advance(5 * 24 * time.Hour)
		sched := must(
			w.sc.SubscriptionSchedules.New(&api.SubscriptionScheduleParams{FromSubscription: api.String(s.ID)}))(t)
		now := sched.Phases[0]
		_, err := w.sc.SubscriptionSchedules.Update(sched.ID,
			&api.SubscriptionScheduleParams{Phases: []*api.SubscriptionSchedulePhaseParams{
				{
					StartDate: api.Int64(epoch.Unix() + 1), EndDate: api.Int64(now.EndDate),
					Items: []*api.SubscriptionSchedulePhaseItemParams{{Price: api.String(small.ID)}},
				},
			}})
		if err == nil {
			t.Error("the current phase was left out")
		}
		sched = must(w.sc.SubscriptionSchedules.Update(sched.ID, &api.SubscriptionScheduleParams{
			EndBehavior: api.String("release"), ProrationBehavior: api.String("none"),
			Phases: []*api.SubscriptionSchedulePhaseParams{
				{
					StartDate: api.Int64(now.StartDate), EndDate: api.Int64(now.EndDate),
					Items: []*api.SubscriptionSchedulePhaseItemParams{{
						Price:    api.String(now.Items[0].Price.ID),
						Quantity: api.Int64(1),
					}},
				},
				{
					Iterations: api.Int64(1),
					Items: []*api.SubscriptionSchedulePhaseItemParams{{
						Price:    api.String(small.ID),
						Quantity: api.Int64(1),
					}}, ProrationBehavior: api.String("none"),
				},
			},
		}))(t)
		if len(sched.Phases) != 2 {
			t.Fatalf("%d phases, want 2: %+v", len(sched.Phases), sched)
		}
		if from := sched.Phases[1].StartDate; from != s.CurrentPeriodEnd {
			t.Fatalf("the second phase starts at %d, want %d", from, s.CurrentPeriodEnd)
		}
		if got := sched.Phases[1].Items[0].Price.ID; got != small.ID {
			t.Fatalf("the second phase has price %s, want %s", got, small.ID)
		}
		if got := w.sub(s.ID).Schedule.ID; got != sched.ID {
			t.Fatalf("schedule %s, want %s", got, sched.ID)
		}
		next := must(w.sc.Invoices.Upcoming(&api.InvoiceUpcomingParams{Subscription: api.String(s.ID)}))(t)
		if next.Total != 2000 {
			t.Errorf("upcoming %d", next.Total)
		}
		if e := failed(w.sc.Subscriptions.Update(s.ID, swap(s, small)))(t); !strings.Contains(e.Msg,
			"managed by the subscription schedule") {
			t.Errorf("%+v", e)
		}
		want := small
		if undone {
			want = big
			got := must(w.sc.SubscriptionSchedules.Release(sched.ID, nil))(t)
			if got.Status != "released" || got.ReleasedSubscription.ID != s.ID {
				t.Errorf("%s: %s; want released: %s", got.Status, got.ReleasedSubscription.ID, s.ID)
			}
			if left := w.sub(s.ID).Schedule; left != nil {
				t.Errorf("the subscription still has schedule %s", left.ID)
			}
		}
		w.advance(time.Unix(s.CurrentPeriodEnd, 0).Sub(epoch.Add(5*24*time.Hour)) - time.Second)
		if got := w.sub(s.ID).Items.Data[0].Price.ID; got != big.ID {
			t.Error("it happened too early")
		}
		w.advance(time.Hour + time.Second)
		if s = w.sub(s.ID); s.Items.Data[0].Price.ID != want.ID || w.paid(cus.ID) != 5000+want.UnitAmount {
			t.Errorf("undone %t: %s, paid %d", undone, s.Items.Data[0].Price.ID, w.paid(cus.ID))
		}
		w.advance(31 * 24 * time.Hour)
		if s = w.sub(s.ID); s.Schedule != nil || w.paid(cus.ID) != 5000+2*want.UnitAmount {
			t.Errorf("undone %t: schedule %v, paid %d", undone, s.Schedule, w.paid(cus.ID))
		}
	}
}

func TestATrialIsFreeAndBecomesActive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus := w.customer()
	s := must(w.sc.Subscriptions.New(&api.SubscriptionParams{
		Customer: api.String(cus.ID), TrialPeriodDays: api.Int64(14),
		Items: []*api.SubscriptionItemsParams{{Price: api.String(w.price(2000, "month").ID)}},
	}))(t)
	if end := epoch.AddDate(0, 0, 14).Unix(); s.Status != "trialing" || s.TrialEnd != end || s.CurrentPeriodEnd != end {
		t.Fatalf("%s until %d, period until %d; want trialing, both until %d", s.Status, s.TrialEnd, s.CurrentPeriodEnd,
			end)
	}
	s = must(w.sc.Subscriptions.Update(s.ID, swap(s, w.price(5000, "month"))))(t)
	if s.Status != "trialing" || w.paid(cus.ID) != 0 {
		t.Errorf("a change during the trial cost %d", w.paid(cus.ID))
	}
	w.advance(14*24*time.Hour + time.Hour)
	s = w.sub(s.ID)
	if paid, end := w.paid(cus.ID), epoch.AddDate(0, 1, 14).Unix(); s.Status != "active" || paid != 5000 ||
		s.CurrentPeriodEnd != end {
		t.Errorf("%s until %d, paid %d; want active until %d, 5000", s.Status, s.CurrentPeriodEnd, paid, end)
	}
	if !slices.Contains(w.events(), "customer.subscription.trial_will_end") {
		t.Error("nobody was told")
	}
}

func TestCancellationAtThePeriodsEndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{true, false} {
		w := newWorld(t)
		s := w.subscribe(w.customer().ID, w.price(2000, "month"))
		s = must(w.sc.Subscriptions.Update(s.ID, &api.SubscriptionParams{CancelAtPeriodEnd: api.Bool(true)}))(t)
		if !s.CancelAtPeriodEnd || s.CancelAt != s.CurrentPeriodEnd {
			t.Fatalf("canceled at the period's end: %v, at %d; want true, %d", s.CancelAtPeriodEnd, s.CancelAt,
				s.CurrentPeriodEnd)
		}
		if s.CanceledAt != epoch.Unix() || s.Status != "active" {
			t.Fatalf("%s, canceled at %d; want active, %d", s.Status, s.CanceledAt, epoch.Unix())
		}
		if e := failed(w.sc.Invoices.Upcoming(&api.InvoiceUpcomingParams{Subscription: api.String(s.ID)}))(
			t); e.Code != api.ErrorCodeInvoiceUpcomingNone {
			t.Errorf("%+v", e)
		}
		want := api.SubscriptionStatusCanceled
		if back {
			s = must(w.sc.Subscriptions.Update(s.ID, &api.SubscriptionParams{CancelAtPeriodEnd: api.Bool(false)}))(t)
			want = "active"
			if s.CancelAt != 0 || s.CanceledAt != 0 {
				t.Errorf("%+v", s)
			}
		}
		w.advance(31 * 24 * time.Hour)
		if s = w.sub(s.ID); s.Status != want {
			t.Errorf("%s", s.Status)
		}
		if !back && (s.EndedAt != s.CurrentPeriodEnd || !slices.Contains(w.events(), "customer.subscription.deleted")) {
			t.Errorf("%+v", s)
		}
	}
}

func TestEventsComeInTheOrderOfWhatHappened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, to := w.price(2000, "month"), w.price(5000, "month")
	cus := w.customer()
	s := w.subscribe(cus.ID, from)
	w.advance(time.Hour)
	before := len(w.events())
	p := swap(s, to)
	p.SetIdempotencyKey("pc:1")
	must(w.sc.Subscriptions.Update(s.ID, p))(t)
	got := w.events()[before:]
	want := []string{
		"invoiceitem.created", "invoiceitem.created", "invoice.created", "payment_intent.created",
		"invoice.finalized", "charge.succeeded",
		"payment_intent.succeeded", "invoice.updated", "invoice.paid", "invoice.payment_succeeded",
		"customer.subscription.pending_update_applied", "customer.subscription.updated",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	it := w.sc.Events.List(&api.EventListParams{Types: []*string{
		api.String("customer.subscription.updated"),
		api.String("invoice.paid"),
	}})
	n := 0
	for it.Next() {
		if n++; n > 2 {
			break
		}
		e := it.Event()
		if r := e.Request; r.IdempotencyKey != "pc:1" || r.ID == "" || e.APIVersion != api.APIVersion {
			t.Errorf("%s: request %q with key %q, version %s; want one with key pc:1, version %s", e.Type, r.ID,
				r.IdempotencyKey, e.APIVersion, api.APIVersion)
		}
		if e.Type == "customer.subscription.updated" {
			items, _ := e.Data.PreviousAttributes["items"].(map[string]any)
			if items == nil || e.Data.Object["id"] != s.ID {
				t.Errorf("previous attributes %v", e.Data.PreviousAttributes)
			}
		}
	}
}

func TestListsGoPageByPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made []string
	for i := range 25 {
		p := &api.CustomerParams{Email: api.String(fmt.Sprintf("%d@example.com", i%2))}
		p.AddMetadata("org_id", fmt.Sprint(i))
		made = append(made, must(w.sc.Customers.New(p))(t).ID)
	}
	slices.Reverse(made)
	p := &api.CustomerListParams{}
	p.Limit = api.Int64(7)
	var got []string
	for it := w.sc.Customers.List(p); it.Next(); {
		got = append(got, it.Customer().ID)
	}
	if !slices.Equal(got, made) {
		t.Errorf("%d of %d, or out of order", len(got), len(made))
	}
	back := &api.CustomerListParams{}
	back.EndingBefore, back.Limit = api.String(made[10]), api.Int64(4)
	back.Single = true
	got = nil
	for it := w.sc.Customers.List(back); it.Next(); {
		got = append(got, it.Customer().ID)
	}
	slices.Reverse(got) // stripe-go reverses a backward page
	if !slices.Equal(got, made[6:10]) {
		t.Errorf("before the eleventh: %v", got)
	}
	found := w.sc.Customers.Search(
		&api.CustomerSearchParams{SearchParams: api.SearchParams{Query: "metadata['org_id']:'13'"}})
	var ids []string
	for found.Next() {
		ids = append(ids, found.Customer().ID)
	}
	if !slices.Equal(ids, made[11:12]) {
		t.Errorf("the search by metadata found %v, want %v", ids, made[11:12])
	}
}
