package stripe_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// bill creates an open invoice of one amount for a card that declines.
func (w *world) bill(cus string, amount int64) *api.Invoice {
	w.Helper()
	must(w.sc.InvoiceItems.New(&api.InvoiceItemParams{
		Customer: api.String(cus), Amount: api.Int64(amount),
		Currency: api.String("usd"),
	}))(w)
	inv := must(w.sc.Invoices.New(&api.InvoiceParams{
		Customer:                    api.String(cus),
		PendingInvoiceItemsBehavior: api.String("include"),
	}))(w)
	return must(w.sc.Invoices.FinalizeInvoice(inv.ID, nil))(w)
}

func TestInvoicesGoFromStateToState(t *testing.T) {
	t.Parallel()
	moves := map[string]func(*world, string) error{
		"finalize": func(w *world, id string) error {
			_, err := w.sc.Invoices.FinalizeInvoice(id, nil)
			return err
		},
		"pay": func(w *world, id string) error {
			_, err := w.sc.Invoices.Pay(id, nil)
			return err
		},
		"void": func(w *world, id string) error {
			_, err := w.sc.Invoices.VoidInvoice(id, nil)
			return err
		},
		"uncollectible": func(w *world, id string) error {
			_, err := w.sc.Invoices.MarkUncollectible(id, nil)
			return err
		},
	}
	for from, to := range map[string]map[string]api.InvoiceStatus{ // transitions that are not listed are refused
		"draft":         {"finalize": "open", "pay": "paid"},
		"open":          {"pay": "paid", "void": "void", "uncollectible": "uncollectible"},
		"uncollectible": {"pay": "paid", "void": "void"},
		"paid":          {},
		"void":          {},
	} {
		for name, move := range moves {
			w := newWorld(t)
			cus := w.customer()
			must(w.sc.InvoiceItems.New(&api.InvoiceItemParams{
				Customer: api.String(cus.ID), Amount: api.Int64(700),
				Currency: api.String("usd"),
			}))(t)
			id := must(w.sc.Invoices.New(&api.InvoiceParams{
				Customer:                    api.String(cus.ID),
				PendingInvoiceItemsBehavior: api.String("include"),
			}))(t).ID
			for _, step := range map[string][]string{
				"open": {"finalize"}, "paid": {"finalize", "pay"},
				"void": {"finalize", "void"}, "uncollectible": {"finalize", "uncollectible"},
			}[from] {
				if err := moves[step](w, id); err != nil {
					t.Fatal(err)
				}
			}
			paid := w.paid(cus.ID)
			err := move(w, id)
			got := must(w.sc.Invoices.Get(id, nil))(t)
			want, allowed := to[name]
			if (err == nil) != allowed {
				t.Errorf("%s of one that is %s: %v, allowed: %v", name, from, err, allowed)
			}
			if !allowed {
				want = api.InvoiceStatus(from)
				if now := w.paid(cus.ID); now != paid {
					t.Errorf("%s of one that is %s: paid %d, want %d", name, from, now, paid)
				}
			}
			if got.Status != want {
				t.Errorf("%s of one that is %s: %s, want %s", name, from, got.Status, want)
			}
			if name == "pay" && from == "paid" &&
				(err == nil || !strings.Contains(err.Error(), "invoice_already_paid")) {
				t.Errorf("paid twice: %v", err)
			}
		}
	}
}

func TestCreditIsUsedAndGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus := w.customer()
	must(w.sc.CustomerBalanceTransactions.New(&api.CustomerBalanceTransactionParams{
		Customer: api.String(cus.ID),
		Amount:   api.Int64(-500), Currency: api.String("usd"),
	}))(t)
	balance := func() int64 { return must(w.sc.Customers.Get(cus.ID, nil))(t).Balance }
	inv := w.bill(cus.ID, 700)
	type facts struct{ Due, Before, After, Balance int64 }
	if diff := cmp.Diff(facts{200, -500, 0, 0}, facts{
		inv.AmountDue, inv.StartingBalance, inv.EndingBalance, balance(),
	}); diff != "" {
		t.Errorf("first invoice (-want +got):\n%s", diff)
	}
	must(w.sc.Invoices.VoidInvoice(inv.ID, nil))(t)
	if balance() != -500 {
		t.Errorf("after voiding it is %d", balance())
	}
	type covered struct {
		Status             api.InvoiceStatus
		Due, Balance, Paid int64
	}
	inv = w.bill(cus.ID, 300)
	if diff := cmp.Diff(covered{"paid", 0, -200, 0}, covered{
		inv.Status, inv.AmountDue, balance(), w.paid(cus.ID),
	}); diff != "" {
		t.Errorf("second invoice (-want +got):\n%s", diff)
	}
	// The rest is below the minimum charge: it is added to the balance and billed with the next invoice.
	inv = w.bill(cus.ID, 249)
	if diff := cmp.Diff(covered{"paid", 0, 49, 0}, covered{
		inv.Status, inv.AmountDue, balance(), w.paid(cus.ID),
	}); diff != "" {
		t.Errorf("third invoice (-want +got):\n%s", diff)
	}
	if inv = w.bill(cus.ID, 1); inv.AmountDue != 50 || balance() != 0 {
		t.Errorf("%+v", inv)
	}
}

func TestInvoicesAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus := w.customer()
	var numbers []string
	for range 3 {
		numbers = append(numbers, w.bill(cus.ID, 700).Number)
	}
	if want := []string{
		cus.InvoicePrefix + "-0001", cus.InvoicePrefix + "-0002",
		cus.InvoicePrefix + "-0003",
	}; !slices.Equal(numbers, want) {
		t.Errorf("%v, want %v", numbers, want)
	}
}

func TestOnlyTheFirstTryAndTheSchedulesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus := w.customer()
	w.card(cus.ID, stripe.Decline)
	inv := w.bill(cus.ID, 700)
	for range 3 {
		e := failed(w.sc.Invoices.Pay(inv.ID, nil))(t)
		if e.Code != api.ErrorCodeCardDeclined || e.HTTPStatusCode != 402 {
			t.Errorf("%s with status %d, want %s with 402", e.Code, e.HTTPStatusCode, api.ErrorCodeCardDeclined)
		}
		if e.PaymentIntent == nil {
			t.Errorf("no payment intent: %+v", e)
		}
	}
	if got := must(w.sc.Invoices.Get(inv.ID, nil))(t); got.AttemptCount != 1 || !got.Attempted {
		t.Errorf("%d tries are counted", got.AttemptCount)
	}
	w.card(cus.ID, stripe.ThreeDS)
	if e := failed(w.sc.Invoices.Pay(inv.ID, nil))(t); e.Code != api.ErrorCodeInvoicePaymentIntentRequiresAction {
		t.Errorf("%+v", e)
	}
}

func TestASubscriptionOnAccountIsInvoicedAndNotCharged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus := w.customer()
	p := &api.SubscriptionParams{
		Customer: api.String(cus.ID), CollectionMethod: api.String("send_invoice"), DaysUntilDue: api.Int64(14),
		Items: []*api.SubscriptionItemsParams{{Price: api.String(w.price(2000, "month").ID)}},
	}
	p.AddExpand("latest_invoice")
	s := must(w.sc.Subscriptions.New(p))(t)
	if s.Status != "active" {
		t.Errorf("status %s, want active", s.Status)
	}
	if inv, due := s.LatestInvoice, epoch.AddDate(0, 0, 14).Unix(); inv.Status != "open" || inv.DueDate != due {
		t.Errorf("invoice %s, due at %d; want open, due at %d", inv.Status, inv.DueDate, due)
	}
	if paid := w.paid(cus.ID); paid != 0 {
		t.Errorf("paid %d, want 0", paid)
	}
	if e := failed(w.sc.Subscriptions.Update(s.ID, swap(s, w.price(5000, "month"))))(t); e.Param != "payment_behavior" {
		t.Errorf("%+v", e)
	}
	w.advance(15 * 24 * time.Hour)
	if got := w.sub(s.ID); got.Status != "past_due" {
		t.Errorf("a day too late it is %s", got.Status)
	}
	must(w.sc.Invoices.Pay(s.LatestInvoice.ID, &api.InvoicePayParams{PaidOutOfBand: api.Bool(true)}))(t)
	if got := w.sub(s.ID); got.Status != "active" || !got.LatestInvoice.PaidOutOfBand {
		t.Errorf("paid by other means it is %s", got.Status)
	}
}

func TestMonthsEndWhereTheyEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from     string
		interval string
		want     []string
	}{
		{"2026-11-30T10:00:00Z", "month", []string{"2026-12-30", "2027-01-30", "2027-02-28", "2027-03-30"}},
		{"2027-01-31T10:00:00Z", "month", []string{"2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"}},
		{"2028-02-29T10:00:00Z", "year", []string{"2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"}},
		{"2026-12-28T10:00:00Z", "week", []string{"2027-01-04", "2027-01-11"}},
	} {
		w := newWorld(t)
		from := must(time.Parse(time.RFC3339, c.from))(t)
		w.advance(from.Sub(epoch))
		s := w.subscribe(w.customer().ID, w.price(2000, c.interval))
		for _, want := range c.want {
			end := time.Unix(s.CurrentPeriodEnd, 0).UTC()
			if end.Format(time.DateOnly) != want || end.Hour() != 10 {
				t.Errorf("from %s: %s, want %s", c.from, end, want)
			}
			w.advance(end.Sub(must(w.s.Now(t.Context()))(t)))
			s = w.sub(s.ID)
		}
	}
}

func TestAnEndNowForgetsProrationsAndAnEndLaterBillsThem(t *testing.T) {
	t.Parallel()
	for _, now := range []bool{true, false} {
		w := newWorld(t)
		cus, seat := w.customer(), w.price(1000, "month")
		s := w.subscribe(cus.ID, w.price(3000, "month"))
		w.advance(15 * 24 * time.Hour)
		must(w.sc.Subscriptions.Update(s.ID,
			&api.SubscriptionParams{Items: []*api.SubscriptionItemsParams{{Price: api.String(seat.ID)}}}))(t)
		want := int64(3500)
		if now {
			must(w.sc.Subscriptions.Cancel(s.ID, nil))(t)
			want = 3000
		} else {
			must(w.sc.Subscriptions.Update(s.ID, &api.SubscriptionParams{CancelAtPeriodEnd: api.Bool(true)}))(t)
		}
		w.advance(40 * 24 * time.Hour)
		if got := w.paid(cus.ID); got != want {
			t.Errorf("now %t: paid %d, want %d", now, got, want)
		}
	}
}

func TestADeletedCustomerLeavesAStubAndNothingOnTheClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cus := w.customer()
	s := w.subscribe(cus.ID, w.price(2000, "month"))
	w.advance(30*24*time.Hour + time.Minute) // the renewal's draft exists
	must(w.sc.Customers.Del(cus.ID, nil))(t)
	if got := must(w.sc.Customers.Get(cus.ID, nil))(t); !got.Deleted {
		t.Errorf("%+v", got)
	}
	if got := w.sub(s.ID); got.Status != "canceled" {
		t.Errorf("its subscription is %s", got.Status)
	}
	other := w.customer()
	w.subscribe(other.ID, w.price(2000, "month"))
	w.advance(63 * 24 * time.Hour)
	if got := w.paid(other.ID); got != 3*2000 || w.paid(cus.ID) != 2000 {
		t.Errorf("the other paid %d, the deleted one %d", got, w.paid(cus.ID))
	}
}
