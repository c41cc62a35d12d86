package stripe_test

import (
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

func TestAChangeInTheMiddleOfAPeriodCostsWhatTheTableSays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		from, to      int64
		after         time.Duration // of 30 days
		credit, debit int64
	}{
		{2000, 5000, 15 * day, -1000, 2500},
		{2000, 5000, 0, -2000, 5000},
		{5000, 2000, 15 * day, -2500, 1000},
		{1000, 3000, 10 * day, -667, 2000},                     // 666.67
		{999, 2999, 10*day + time.Second, -666, 1999},          // 665.9997..., 1999.3326...
		{1, 3, 15 * day, -1, 2},                                // halves are rounded away from zero: 0.5 and 1.5
		{2900, 9900, 29*day + 23*time.Hour, -4, 14},            // 4.03, 13.75
		{2592000, 5184000, 1 * time.Second, -2591999, 5183998}, // a unit or two for each second
	} {
		w := newWorld(t)
		from, to := w.price(c.from, "month"), w.price(c.to, "month")
		cus := w.customer()
		s := w.subscribe(cus.ID, from)
		w.advance(c.after)
		inv := w.preview(s, to)
		if len(inv.Lines.Data) != 2 || inv.Lines.Data[0].Amount != c.credit || inv.Lines.Data[1].Amount != c.debit {
			t.Errorf("%d to %d after %s: %+v, want %d and %d", c.from, c.to, c.after, amounts(inv), c.credit, c.debit)
		}
		for _, l := range inv.Lines.Data {
			if !l.Proration {
				t.Errorf("line %s is not a proration", l.ID)
			}
			if from, to := inv.SubscriptionProrationDate, s.CurrentPeriodEnd; l.Period.Start != from ||
				l.Period.End != to {
				t.Errorf("line of %d to %d, want %d to %d", l.Period.Start, l.Period.End, from, to)
			}
		}
	}
}

func amounts(inv *api.Invoice) (all []int64) {
	for _, l := range inv.Lines.Data {
		all = append(all, l.Amount)
	}
	return all
}

func TestAnUpgradeIsChargedWhatItsPreviewSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, to := w.price(2000, "month"), w.price(5000, "month")
	cus := w.customer()
	s := w.subscribe(cus.ID, from)
	w.advance(11 * 24 * time.Hour)
	inv := w.preview(s, to)
	before := w.paid(cus.ID)
	w.advance(7 * time.Minute) // the preview is accepted later
	p := swap(s, to)
	p.ProrationDate = api.Int64(inv.SubscriptionProrationDate)
	changed := must(w.sc.Subscriptions.Update(s.ID, p))(t)
	if got := w.paid(cus.ID) - before; got != inv.AmountDue || got != 1900 {
		t.Errorf("charged %d, previewed %d", got, inv.AmountDue)
	}
	it := changed.Items.Data[0]
	if it.Price.ID != to.ID {
		t.Errorf("price %s, want %s", it.Price.ID, to.ID)
	}
	if want := s.Items.Data[0].ID; it.ID != want {
		t.Errorf("item %s, want %s", it.ID, want)
	}
	if changed.PendingUpdate != nil {
		t.Errorf("pending update %+v, want none", changed.PendingUpdate)
	}
	if inv := changed.LatestInvoice; inv.Status != "paid" || inv.Total != 1900 {
		t.Errorf("invoice %s of %d, want paid of 1900", inv.Status, inv.Total)
	}
	if changed.CurrentPeriodEnd != s.CurrentPeriodEnd {
		t.Error("the period moved")
	}
}

func TestThereAndBackAtOneInstantNetsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, to := w.price(1999, "month"), w.price(7301, "month")
	cus := w.customer()
	s := w.subscribe(cus.ID, from)
	w.advance(12345 * time.Second)
	must(w.sc.Subscriptions.Update(s.ID, swap(s, to)))(t)
	back := must(w.sc.Subscriptions.Update(s.ID, swap(s, from)))(t)
	c := must(w.sc.Customers.Get(cus.ID, nil))(t)
	if net := w.paid(cus.ID) + c.Balance - 1999; net != 0 {
		t.Errorf("net %d, balance %d", net, c.Balance)
	}
	if got := back.Items.Data[0].Price.ID; got != from.ID {
		t.Errorf("price %s, want %s", got, from.ID)
	}
	if inv := back.LatestInvoice; inv.AmountDue != 0 || inv.Status != "paid" {
		t.Errorf("invoice %s, %d due; want paid, 0", inv.Status, inv.AmountDue)
	}
}

func TestAnotherIntervalBeginsAPeriodAndIsInvoicedAtOnce(t *testing.T) {
	t.Parallel()
	for _, behaviour := range []string{"always_invoice", "create_prorations", "none"} {
		w := newWorld(t)
		month, year := w.price(3000, "month"), w.price(30000, "year")
		cus := w.customer()
		s := w.subscribe(cus.ID, month)
		w.advance(10 * 24 * time.Hour)
		p := swap(s, year)
		p.ProrationBehavior = api.String(behaviour)
		changed := must(w.sc.Subscriptions.Update(s.ID, p))(t)
		want := int64(28000)
		if behaviour == "none" {
			want = 30000
		}
		if changed.LatestInvoice.Total != want || changed.LatestInvoice.Status != "paid" {
			t.Errorf("%s: %d %s", behaviour, changed.LatestInvoice.Total, changed.LatestInvoice.Status)
		}
		now := epoch.AddDate(0, 0, 10)
		if from, to := now.Unix(), now.AddDate(1, 0, 0).Unix(); changed.CurrentPeriodStart != from ||
			changed.CurrentPeriodEnd != to || changed.BillingCycleAnchor != from {
			t.Errorf("%s: %d to %d, anchor %d; want %d to %d, the start as anchor", behaviour,
				changed.CurrentPeriodStart, changed.CurrentPeriodEnd, changed.BillingCycleAnchor, from, to)
		}
	}
}

func TestWhatIsNotInvoicedAtOnceComesWithTheRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base, seat := w.price(3000, "month"), w.price(1500, "month")
	cus := w.customer()
	s := w.subscribe(cus.ID, base)
	w.advance(10 * 24 * time.Hour)
	s = must(w.sc.Subscriptions.Update(s.ID, &api.SubscriptionParams{
		Items:             []*api.SubscriptionItemsParams{{Price: api.String(seat.ID), Quantity: api.Int64(2)}},
		ProrationBehavior: api.String("create_prorations"),
	}))(t)
	if len(s.Items.Data) != 2 || s.Items.Data[1].Quantity != 2 {
		t.Fatalf("%+v", s.Items.Data)
	}
	if got := w.paid(cus.ID); got != 3000 {
		t.Errorf("%d were charged at once", got)
	}
	next := must(w.sc.Invoices.Upcoming(&api.InvoiceUpcomingParams{Subscription: api.String(s.ID)}))(t)
	if next.AmountDue != 2000+3000+3000 {
		t.Errorf("upcoming %v", amounts(next))
	}
	w.advance(20*24*time.Hour + 2*time.Hour)
	if got := w.paid(cus.ID); got != 3000+8000 {
		t.Errorf("%d were charged after the renewal", got)
	}
}

func TestWithoutItsMoneyAnUpgradeWaits(t *testing.T) {
	t.Parallel()
	for _, conduct := range []stripe.Conduct{stripe.Decline, stripe.ThreeDS} {
		w := newWorld(t)
		from, to := w.price(2000, "month"), w.price(5000, "month")
		cus := w.customer()
		s := w.subscribe(cus.ID, from)
		w.card(cus.ID, conduct)
		changed := must(w.sc.Subscriptions.Update(s.ID, swap(s, to)))(t)
		pi := changed.LatestInvoice.PaymentIntent
		want := map[stripe.Conduct]api.PaymentIntentStatus{
			stripe.Decline: "requires_payment_method",
			stripe.ThreeDS: "requires_action",
		}[conduct]
		if got := changed.Items.Data[0].Price.ID; got != from.ID {
			t.Fatalf("%s: price %s, want %s", conduct, got, from.ID)
		}
		if changed.PendingUpdate == nil {
			t.Fatalf("%s: no pending update", conduct)
		}
		if inv := changed.LatestInvoice; changed.Status != "active" || inv.Status != "open" {
			t.Fatalf("%s: %s, invoice %s; want active, open", conduct, changed.Status, inv.Status)
		}
		if pi.Status != want {
			t.Fatalf("%s: payment %s, want %s", conduct, pi.Status, want)
		}
		if pi.ClientSecret == "" {
			t.Fatalf("%s: the payment has no client secret", conduct)
		}
		if got := changed.PendingUpdate; got.ExpiresAt != epoch.Add(23*time.Hour).Unix() ||
			got.SubscriptionItems[0].Price.ID != to.ID {
			t.Errorf("%+v", got)
		}
		if conduct == stripe.ThreeDS {
			if err := w.s.Confirm(t.Context(), pi.ID, true); err != nil {
				t.Fatal(err)
			}
		} else {
			w.card(cus.ID, stripe.Works)
			must(w.sc.Invoices.Pay(changed.LatestInvoice.ID, nil))(t)
		}
		s = w.sub(s.ID)
		if got := s.Items.Data[0].Price.ID; got != to.ID {
			t.Errorf("%s: price %s, want %s", conduct, got, to.ID)
		}
		if s.PendingUpdate != nil {
			t.Errorf("%s: pending update %+v, want none", conduct, s.PendingUpdate)
		}
		if paid := w.paid(cus.ID); s.LatestInvoice.Status != "paid" || paid != 2000+3000 {
			t.Errorf("%s: invoice %s, paid %d; want paid, 5000", conduct, s.LatestInvoice.Status, paid)
		}
	}
}

func TestAnUpgradeThatIsNeverPaidIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	from, to := w.price(2000, "month"), w.price(5000, "month")
	cus := w.customer()
	s := w.subscribe(cus.ID, from)
	w.card(cus.ID, stripe.ThreeDS)
	waiting := must(w.sc.Subscriptions.Update(s.ID, swap(s, to)))(t)
	w.advance(23*time.Hour - time.Second)
	if w.sub(s.ID).PendingUpdate == nil {
		t.Error("it is dropped too early")
	}
	w.advance(time.Second)
	s = w.sub(s.ID)
	if s.PendingUpdate != nil {
		t.Errorf("pending update %+v, want none", s.PendingUpdate)
	}
	if got := s.Items.Data[0].Price.ID; got != from.ID || s.Status != "active" {
		t.Errorf("%s with price %s, want active with %s", s.Status, got, from.ID)
	}
	if inv := must(w.sc.Invoices.Get(waiting.LatestInvoice.ID, nil))(t); inv.Status != "void" {
		t.Errorf("its invoice is %s", inv.Status)
	}
	if err := w.s.Confirm(t.Context(), waiting.LatestInvoice.PaymentIntent.ID, true); err == nil {
		t.Error("a payment of a void invoice was confirmed")
	}
	w.card(cus.ID, stripe.Works)
	w.advance(31 * 24 * time.Hour)
	if got := w.paid(cus.ID); got != 4000 {
		t.Errorf("paid %d after the next renewal", got)
	}
}

func TestWithPendingIfIncompleteNothingElseMayCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.subscribe(w.customer().ID, w.price(2000, "month"))
	for name, add := range map[string]func(*api.SubscriptionParams){
		"metadata":             func(p *api.SubscriptionParams) { p.AddMetadata("change", "1") },
		"cancel_at_period_end": func(p *api.SubscriptionParams) { p.CancelAtPeriodEnd = api.Bool(true) },
		"description":          func(p *api.SubscriptionParams) { p.Description = api.String("x") },
		"items[0][metadata]":   func(p *api.SubscriptionParams) { p.Items[0].Metadata = map[string]string{"a": "b"} },
	} {
		p := swap(s, w.price(5000, "month"))
		add(p)
		if e := failed(w.sc.Subscriptions.Update(s.ID, p))(t); e.HTTPStatusCode != 400 ||
			e.Type != api.ErrorTypeInvalidRequest {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
