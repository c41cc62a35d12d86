package stripe_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	api "github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// see returns a page.
func (w *world) see(path string, want int) string {
	w.Helper()
	rec := httptest.NewRecorder()
	w.s.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(w.Context(), http.MethodGet, path, nil))
	if rec.Code != want {
		w.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// press presses a button and returns the address of the redirect.
func (w *world) press(pairs ...string) string {
	w.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, stripe.Path+"do",
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.s.Handler().ServeHTTP(rec, r)
	if rec.Code != http.StatusSeeOther {
		w.Fatalf("%v: %d %s", pairs, rec.Code, rec.Body)
	}
	return rec.Header().Get("Location")
}

func TestThePageShowsTheWorldAndItsButtonsMoveIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if body := w.see(stripe.Path, 200); !strings.Contains(body, "This is a sandbox") ||
		!strings.Contains(body, "No customers") {
		t.Error(body)
	}
	p := &api.CustomerParams{Name: api.String("<script>alert(1)</script>"), Email: api.String("bob@example.com")}
	cus := must(w.sc.Customers.New(p))(t)
	from, to := w.price(2000, "month"), w.price(5000, "month")
	s := w.subscribe(cus.ID, from)
	w.press("do", "card", "id", cus.ID, "to", "3ds")
	s = must(w.sc.Subscriptions.Update(s.ID, swap(s, to)))(t)
	body := w.see(stripe.Path, 200)
	for _, want := range []string{
		"bob@example.com", cus.ID, "a change waits for its money", "20.00 USD", "30.00 USD",
		"charge", s.LatestInvoice.PaymentIntent.ID,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "<script>") {
		t.Error("the name is not escaped")
	}
	pi := s.LatestInvoice.PaymentIntent
	if got := pi.NextAction.RedirectToURL.URL; got != stripe.Path+"payments/"+pi.ID {
		t.Errorf("the customer is led to %s", got)
	}
	if body := w.see(pi.NextAction.RedirectToURL.URL, 200); !strings.Contains(body, "The bank asks") {
		t.Error(body)
	}
	w.press("do", "confirm", "id", pi.ID)
	if got := w.sub(s.ID); got.Items.Data[0].Price.ID != to.ID {
		t.Error("the confirmed payment changed nothing")
	}
	if to := w.press("do", "confirm", "id", pi.ID); !strings.Contains(to, "note=") {
		t.Errorf("a second confirmation leads to %s", to)
	}
	w.see(stripe.Path+"customers/"+cus.ID, 200)
	if body := w.see(s.LatestInvoice.HostedInvoiceURL, 200); !strings.Contains(body, "Unused time on") {
		t.Error(body)
	}
	w.press("do", "card", "id", cus.ID, "to", "decline")
	w.press("do", "advance", "by", "30d")
	w.press("do", "advance", "by", "1h")
	if got := w.sub(s.ID); got.Status != "past_due" {
		t.Errorf("after a month with a card that declines: %s", got.Status)
	}
	w.press("do", "card", "id", cus.ID, "to", "ok")
	w.press("do", "pay", "id", w.sub(s.ID).LatestInvoice.ID)
	if got := w.sub(s.ID); got.Status != "active" {
		t.Errorf("after the payment: %s", got.Status)
	}
	w.press("do", "mangle", "drop", "7", "duplicate", "900", "reorder", "1", "delay", "x")
	var v struct {
		Sandbox bool
		Clock   string
		Mangle  stripe.Mangle
		Ledger  []stripe.Movement
	}
	if err := json.Unmarshal([]byte(w.see(stripe.Path+"?format=json", 200)), &v); err != nil {
		t.Fatal(err)
	}
	if !v.Sandbox {
		t.Error("it does not call itself a sandbox")
	}
	if v.Clock != "2026-12-01 01:00:00Z" {
		t.Errorf("clock %s, want 2026-12-01 01:00:00Z", v.Clock)
	}
	if diff := cmp.Diff(stripe.Mangle{Drop: 7, Duplicate: 100, Reorder: true}, v.Mangle); diff != "" {
		t.Errorf("mangle (-want +got):\n%s", diff)
	}
	if len(v.Ledger) != 3 {
		t.Errorf("%d movements, want 3: %+v", len(v.Ledger), v.Ledger)
	}
	for _, c := range [][]string{
		{"do", "explode"},
		{"do", "advance", "by", "-1h"},
		{"do", "card", "id", cus.ID, "to", "gold"},
		{"do", "card", "id", "cus_none", "to", "ok"},
	} {
		if to := w.press(c...); !strings.Contains(to, "note=") {
			t.Errorf("%v leads to %s", c, to)
		}
	}
	for _, back := range []string{
		"https://evil.example/" + stripe.Path, "//evil.example" + stripe.Path, "/elsewhere",
		"\x00",
	} {
		if to := w.press("do", "card", "id", cus.ID, "to", "ok", "back", back); to != stripe.Path {
			t.Errorf("back to %q leads to %s", back, to)
		}
	}
	w.see(stripe.Path+"customers/cus_none", 404)
}

func TestOnboardingIsDoneOnThePageByALinkThatOpensOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := must(w.sc.Accounts.New(&api.AccountParams{
		Type: api.String("express"),
		Capabilities: &api.AccountCapabilitiesParams{
			CardPayments: &api.AccountCapabilitiesCardPaymentsParams{Requested: api.Bool(true)},
			Transfers:    &api.AccountCapabilitiesTransfersParams{Requested: api.Bool(true)},
		},
	}))(t)
	if a.ChargesEnabled || a.DetailsSubmitted {
		t.Fatalf("charges %v, details %v; want neither", a.ChargesEnabled, a.DetailsSubmitted)
	}
	if len(a.Requirements.CurrentlyDue) == 0 {
		t.Fatal("no requirement is due")
	}
	if got := a.Capabilities.CardPayments; got != "inactive" {
		t.Fatalf("card payments are %s, want inactive", got)
	}
	link := func() string {
		l := must(w.sc.AccountLinks.New(&api.AccountLinkParams{
			Account: api.String(a.ID),
			Type:    api.String("account_onboarding"), RefreshURL: api.String("https://crm.example.com/r"),
			ReturnURL: api.String("https://crm.example.com/done"),
		}))(t)
		return l.URL
	}
	for _, c := range []struct {
		state             string
		charges, details  bool
		capability, owing string
	}{
		{stripe.Review, false, true, "pending", "requirements.pending_verification"},
		{stripe.Restricted, false, true, "inactive", "requirements.past_due"},
		{stripe.Enabled, true, true, "active", ""},
		{stripe.Warned, true, true, "active", ""},
		{stripe.Onboarding, false, false, "inactive", "requirements.past_due"},
	} {
		at := link()
		w.see(at, 200)
		if to := w.press("do", "onboard", "id", at[strings.LastIndex(at, "/")+1:], "to",
			c.state); !strings.Contains(to, url.QueryEscape("https://crm.example.com/done")) {
			t.Errorf("it leads to %s", to)
		}
		w.see(at, 410)
		got := must(w.sc.Accounts.GetByID(a.ID, nil))(t)
		type facts struct {
			Charges, Payouts, Details bool
			Capability, Owing         string
		}
		if diff := cmp.Diff(facts{c.charges, c.charges, c.details, c.capability, c.owing}, facts{
			got.ChargesEnabled, got.PayoutsEnabled, got.DetailsSubmitted, string(got.Capabilities.CardPayments),
			string(got.Requirements.DisabledReason),
		}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.state, diff)
		}
	}
	at := link()
	w.advance(5 * time.Minute)
	w.see(at, 410)
	if to := w.press("do", "account", "id", a.ID, "to", stripe.Restricted); strings.Contains(to, "note") {
		t.Error(to)
	}
	w.press("do", "disconnect", "id", a.ID)
	if e := failed(w.sc.Accounts.GetByID(a.ID, nil))(t); e.HTTPStatusCode != 403 || e.Code != "account_invalid" {
		t.Errorf("%+v", e)
	}
}

func TestAResellersMoneyIsSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := must(w.sc.Accounts.New(&api.AccountParams{Type: api.String("standard")}))(t)
	if err := w.s.SetAccount(t.Context(), a.ID, stripe.Enabled); err != nil {
		t.Fatal(err)
	}
	cp := &api.CustomerParams{}
	cp.SetStripeAccount(a.ID)
	cus := must(w.sc.Customers.New(cp))(t)
	if e := failed(w.sc.Customers.Get(cus.ID, nil))(t); e.HTTPStatusCode != 404 {
		t.Error("the platform sees an account's customer")
	}
	pp := &api.PriceParams{
		Currency: api.String("usd"), UnitAmount: api.Int64(4999),
		ProductData: &api.PriceProductDataParams{Name: api.String("x")},
		Recurring:   &api.PriceRecurringParams{Interval: api.String("month")},
	}
	pp.SetStripeAccount(a.ID)
	price := must(w.sc.Prices.New(pp))(t)
	sp := &api.SubscriptionParams{
		Customer:              api.String(cus.ID),
		Items:                 []*api.SubscriptionItemsParams{{Price: api.String(price.ID)}},
		ApplicationFeePercent: api.Float64(12.5),
	}
	sp.SetStripeAccount(a.ID)
	sp.AddExpand("latest_invoice")
	s := must(w.sc.Subscriptions.New(sp))(t)
	if s.ApplicationFeePercent != 12.5 || s.LatestInvoice.ApplicationFeeAmount != 625 { // 624.875
		t.Errorf("%v %d", s.ApplicationFeePercent, s.LatestInvoice.ApplicationFeeAmount)
	}
	ours, theirs := must(w.s.Ledger(t.Context(), "", ""))(t), must(w.s.Ledger(t.Context(), a.ID, ""))(t)
	wantOurs := []stripe.Movement{{Kind: "application_fee", Amount: 625, Account: a.ID}}
	wantTheirs := []stripe.Movement{{Amount: 4999}, {Amount: -175}, {Amount: -625}}
	rest := cmpopts.IgnoreFields(stripe.Movement{}, "At", "Currency", "Customer", "Invoice", "Object")
	amounts := cmpopts.IgnoreFields(stripe.Movement{}, "Kind", "Account")
	if diff := cmp.Diff(wantOurs, ours, rest); diff != "" {
		t.Errorf("ours (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantTheirs, theirs, rest, amounts); diff != "" {
		t.Errorf("theirs (-want +got):\n%s", diff)
	}
	// A destination charge of the platform: the platform's customer pays, and the account gets the rest.
	mine := w.customer()
	dp := &api.SubscriptionParams{
		Customer:              api.String(mine.ID),
		Items:                 []*api.SubscriptionItemsParams{{Price: api.String(w.price(10000, "month").ID)}},
		ApplicationFeePercent: api.Float64(10),
		TransferData:          &api.SubscriptionTransferDataParams{Destination: api.String(a.ID)},
	}
	must(w.sc.Subscriptions.New(dp))(t)
	sum := map[string]int64{}
	for _, m := range must(w.s.Ledger(t.Context(), "", ""))(t)[1:] {
		sum[m.Kind] += m.Amount
	}
	for kind, want := range map[string]int64{"charge": 10000, "transfer": -10000, "application_fee": 1000} {
		if sum[kind] != want {
			t.Errorf("%s: %d, want %d", kind, sum[kind], want)
		}
	}
}
