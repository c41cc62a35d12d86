package billing_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// reseller returns an org with an enabled account, and a client org of it.
func (w *world) reseller() (org, client id.ID) {
	w.Helper()
	org, client = w.on("white_label_pro"), id.New()
	for _, sql := range []string{
		"INSERT INTO org (parent_org_id, id, name) VALUES ($1, $2, 'Client')",
		"INSERT INTO client_org (org_id, id, name, created_by, created_at, updated_at) VALUES ($1, $2, 'Client', " +
			"$1, now(), now())",
	} {
		if _, err := w.sql.Exec(w.Context(), sql, org, client); err != nil {
			w.Fatal(err)
		}
	}
	w.onboard(org)
	w.stands(org, stripe.Enabled)
	w.told()
	w.wantConnect(org, connect.Enabled)
	return org, client
}

func offer(client id.ID, amount int64, currency string) connect.Offer {
	return connect.Offer{
		Client: client, Email: "books@client.example", Name: "CRM", Amount: amount,
		Currency: currency, Interval: "month",
	}
}

// priced returns a service with a catalogue that has another percentage for resellers.
func (w *world) priced(percent string) *process {
	w.Helper()
	b, err := os.ReadFile("plans/catalogue.yaml")
	if err != nil {
		w.Fatal(err)
	}
	c, err := plans.Parse([]byte(strings.Replace(string(b), `connect_fee_pct: "2.00"`,
		fmt.Sprintf("connect_fee_pct: %q", percent), 1)))
	if err != nil {
		w.Fatal(err)
	}
	return w.service(func(o *billing.Options) { o.Catalogue, o.Sleep = c.Enqueuing(settle.Add), w.sleeps })
}

// of reads an object of a connected account.
func (w *world) of(account, path string) map[string]any {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://stripe.test"+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Stripe-Account", account)
	return w.ask(req)
}

// does sends a request for a connected account, as its owner in the dashboard or the platform would.
func (w *world) does(account, path, form string) map[string]any {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, "http://stripe.test"+path,
		strings.NewReader(form))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Stripe-Account", account)
	return w.ask(req)
}

// payAll pays all open invoices of an account's clients.
func (w *world) payAll(account string) {
	w.Helper()
	list, _ := w.of(account, "/v1/invoices?status=open&limit=100")["data"].([]any)
	for _, inv := range list {
		if err := w.box.On(account).Pay(w.Context(), inv.(map[string]any)["id"].(string)); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) splits(org id.ID) (all []connect.Split) {
	w.Helper()
	err := w.App.ReadTx(w.Context(), org, func(tx *postgres.Tx) (err error) {
		all, err = connect.Splits(w.Context(), tx, time.Time{}, "", 1000)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// TestNobodySellsUnlessEnabled brings an account into each of the six states and tries to sell in each.
func TestNobodySellsUnlessEnabled(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org, client := w.reseller()
	sells := func(of id.ID) error {
		_, err := w.billing.Sell(t.Context(), of, offer(client, 4900, "usd"), nil)
		return err
	}
	if err := sells(w.on("white_label_pro")); !fault.Is(err, fault.ConnectNotEnabled) {
		t.Errorf("%s: %v", connect.NotStarted, err)
	}
	for _, c := range []struct{ at, state string }{
		{stripe.Onboarding, connect.Onboarding},
		{stripe.Review, connect.PendingReview},
		{stripe.Restricted, connect.Restricted},
		{stripe.Enabled, connect.Enabled},
		{stripe.Warned, connect.Enabled},
		{"", connect.Disconnected},
	} {
		if c.at == "" {
			if err := w.box.Disconnect(t.Context(), w.account(org)); err != nil {
				t.Fatal(err)
			}
		} else {
			w.stands(org, c.at)
		}
		w.told()
		w.wantConnect(org, c.state)
		before := w.count("SELECT count(*) FROM connect_sale")
		err := sells(org)
		if c.state == connect.Enabled && err != nil ||
			c.state != connect.Enabled && !fault.Is(err, fault.ConnectNotEnabled) {
			t.Errorf("%s: %v", c.state, err)
		}
		if made := w.count("SELECT count(*) FROM connect_sale") - before; (made == 1) != (c.state == connect.Enabled) {
			t.Errorf("%s: %d sales were written", c.state, made)
		}
	}
	// Enabled, but the plan no longer includes selling; and a client of another reseller.
	other, theirs := w.reseller()
	if _, err := w.billing.Sell(t.Context(), other, offer(client, 4900, "usd"), nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else's client: %v", err)
	}
	if _, err := w.sql.Exec(t.Context(), "UPDATE subscription SET plan = 'agency_scale' WHERE org_id = $1",
		other); err != nil {
		t.Fatal(err)
	}
	if _, err := w.billing.Sell(t.Context(), other, offer(theirs, 4900, "usd"), nil); !fault.Is(err,
		fault.FeatureNotInPlan) {
		t.Errorf("a plan without it: %v", err)
	}
	for _, bad := range []connect.Offer{
		{},
		offer(client, 0, "usd"), offer(client, -5, "usd"),
		offer(client, 5, "dollars"),
	} {
		if _, err := w.billing.Sell(t.Context(), org, bad, nil); !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestAnAccountThatStripeHasStoppedSellsNothingThoughNobodyHasToldUs: between Stripe's decision and its event, Stripe
// refuses the sale, and the sale is recorded as failed.
func TestAnAccountThatStripeHasStoppedSellsNothingThoughNobodyHasToldUs(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org, client := w.reseller()
	w.stands(org, stripe.Restricted)
	if _, err := w.billing.Sell(t.Context(), org, offer(client, 4900, "usd"), nil); !fault.Is(err,
		fault.ProviderRefused) {
		t.Errorf("%v", err)
	}
	if err := w.box.Disconnect(t.Context(), w.account(org)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.billing.Sell(t.Context(), org, offer(client, 4900, "usd"), nil); !fault.Is(err,
		fault.ConnectNotEnabled) {
		t.Errorf("%v", err)
	}
	if n := w.count("SELECT count(*) FROM connect_sale WHERE state <> 'failed'"); n != 0 {
		t.Errorf("%d sales", n)
	}
}

// TestEachInvoicesMoneyAddsUp sells for random amounts in several currencies at random percentages, changes the
// percentage over several months, pays, refunds parts with and without the fee, and loses some of the events. After a
// sync, each invoice's gross is the sum of the reseller's net, the platform's fee and Stripe's fee; the percentage is
// the one configured when the invoice was created; and the sums equal those in Stripe's own ledgers.
func TestEachInvoicesMoneyAddsUp(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	r := rand.New(rand.NewPCG(17, 4))
	org, client := w.reseller()
	account := w.account(org)
	rates := map[string]int64{} // by invoice
	months := 3
	if testing.Short() {
		months = 2
	}
	sync := func() {
		t.Helper()
		if _, err := w.billing.FetchMissedEvents(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rep, err := w.billing.ReconcileSales(t.Context()); err != nil || rep.Failed != 0 {
			t.Fatalf("%+v, %v", rep, err)
		}
		w.work()
	}
	for month := range months {
		bps := []int64{0, 1, 200, 275, 1999, 10000}[r.IntN(6)]
		w.billing = w.priced(plans.Percent(bps))
		if err := w.billing.Rates(t.Context(), org); err != nil {
			t.Fatal(err)
		}
		for _, currency := range []string{"usd", "jpy", "eur"} {
			for range 2 {
				if _, err := w.billing.Sell(t.Context(), org,
					offer(client, 60+r.Int64N(1<<r.IntN(24)), currency), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if month == 0 {
			sync() // so that the next fetch has a start position
		} else {
			w.pass(31*day + 2*time.Hour) // all sales renew, at the current percentage
		}
		list, _ := w.of(account, "/v1/invoices?status=open&limit=100")["data"].([]any)
		for _, inv := range list {
			rates[inv.(map[string]any)["id"].(string)] = bps
		}
		w.payAll(account)
		charges, _ := w.of(account, "/v1/charges?limit=100")["data"].([]any)
		for _, one := range charges {
			ch := one.(map[string]any)
			left := int64(ch["amount"].(float64)) - int64(ch["amount_refunded"].(float64))
			if left == 0 || r.IntN(4) != 0 {
				continue
			}
			form := fmt.Sprintf("charge=%s&amount=%d", ch["id"], 1+r.Int64N(left))
			if ch["application_fee"] != nil && r.IntN(2) == 0 {
				form += "&refund_application_fee=true"
			}
			w.does(account, "/v1/refunds", form)
		}
		w.deliver(shuffled(uint64(month), w.outbox())...)
		w.work()
		sync() // Stripe keeps its events for 30 days
	}
	var net, fees int64
	all := w.splits(org)
	refunded, returned := 0, 0
	for _, x := range all {
		if x.Gross != x.Net+x.ApplicationFee+x.StripeFee {
			t.Errorf("%+v does not add up", x)
		}
		if want, ok := rates[x.Invoice]; !ok || x.FeeBPS != want {
			t.Errorf("%s went at %d, want %d", x.Invoice, x.FeeBPS, want)
		}
		if want := (x.Gross*x.FeeBPS + 5000) / 10000; x.ApplicationFee != want {
			t.Errorf("%+v: a fee of %d, want %d", x, x.ApplicationFee, want)
		}
		net, fees = net+x.Net-x.Refunded+x.FeeRefunded, fees+x.ApplicationFee-x.FeeRefunded
		if x.Refunded > 0 {
			refunded++
		}
		if x.FeeRefunded > 0 {
			returned++
		}
	}
	if len(all) != len(rates) || len(all) < 12 {
		t.Errorf("%d invoices of %d, want all and at least 12", len(all), len(rates))
	}
	if refunded == 0 {
		t.Error("no invoice is refunded")
	}
	if !testing.Short() && returned == 0 {
		t.Error("no invoice is refunded with its fee")
	}
	sum := func(account string, kinds ...string) (total int64) {
		ledger, err := w.box.Ledger(t.Context(), account, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ledger {
			for _, kind := range kinds {
				if m.Kind == kind {
					total += m.Amount
				}
			}
		}
		return total
	}
	if got := sum(account, "charge", "refund", "stripe_fee", "application_fee", "fee_refund"); got != net {
		t.Errorf("the reseller has %d at Stripe and %d by the ledger", got, net)
	}
	if got := sum("", "application_fee", "fee_refund"); got != fees {
		t.Errorf("the platform has %d at Stripe and %d by the ledger", got, fees)
	}
}

// TestAfterADisconnectTheFeeIsToBeNothingAndStripeIsAsked: the target of 0 is written with the state, Stripe refuses
// it, and the sale records that; if access is restored, the target is the plan's percentage again.
func TestAfterADisconnectTheFeeIsToBeNothingAndStripeIsAsked(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	org, client := w.reseller()
	sale, err := w.billing.Sell(t.Context(), org, offer(client, 4900, "usd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		var got string
		if err := w.sql.QueryRow(t.Context(),
			"SELECT fee_bps || ' ' || fee_wanted || ' ' || (fee_refused_at IS NOT NULL) FROM connect_sale WHERE id "+
				"= $1", sale.ID).Scan(&got); err != nil || got != want {
			t.Errorf("the fee is %s, want %s, %v", got, want, err)
		}
	}
	is("200 200 false")
	w.billing = w.priced("2.75")
	if _, err := w.billing.ReconcileSales(t.Context()); err != nil {
		t.Fatal(err)
	}
	is("275 275 false")
	if got := w.of(w.account(org), "/v1/subscriptions/"+sale.Subscription)["application_fee_percent"]; got != 2.75 {
		t.Errorf("Stripe takes %v", got)
	}
	if err := w.box.Disconnect(t.Context(), w.account(org)); err != nil {
		t.Fatal(err)
	}
	w.told()
	is("275 0 true")
	if acts := strings.Join(w.acts(), " "); !strings.Contains(acts, "connect.fee_refused") {
		t.Errorf("%v", acts)
	}
	if _, err := w.billing.ReconcileSales(t.Context()); err != nil {
		t.Fatal(err)
	}
	is("275 0 true")
	if n := w.count("SELECT count(*) FROM audit_log WHERE action = 'connect.fee_refused'"); n > 1 {
		t.Errorf("it was refused %d times", n)
	}
}

// TestASaleThatWasHalfMadeIsGoneOnWithOrGivenUp kills the process at each step of a sale. The sync completes the sale
// if the account may still sell; otherwise it adopts what exists at Stripe and creates nothing.
func TestASaleThatWasHalfMadeIsGoneOnWithOrGivenUp(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	for _, c := range []struct {
		dies, then, want string
		later            time.Duration
		subscriptions    float64
	}{
		{"sale begun", stripe.Enabled, connect.Active, 2 * time.Minute, 1},
		{"sale asked", stripe.Enabled, connect.Active, 2 * time.Minute, 1},
		{"sale begun", stripe.Restricted, billing.Failed, 2 * time.Minute, 0},
		{"sale asked", stripe.Restricted, connect.Active, 2 * time.Minute, 1},
		{"sale begun", stripe.Enabled, billing.Failed, 25 * time.Hour, 0},
		{"sale asked", stripe.Enabled, connect.Active, 25 * time.Hour, 1},
	} {
		org, client := w.reseller()
		w.dies(c.dies)
		if _, err := w.billing.Sell(t.Context(), org, offer(client, 4900, "usd"), nil); err == nil {
			t.Fatal("it lived on")
		}
		w.stands(org, c.then)
		w.told()
		w.pass(c.later)
		for range 2 {
			if r, err := w.billing.ReconcileSales(t.Context()); err != nil || r.Failed != 0 {
				t.Fatalf("%+v: %+v, %v", c, r, err)
			}
		}
		var state string
		if err := w.sql.QueryRow(t.Context(), "SELECT state FROM connect_sale WHERE org_id = $1", org).
			Scan(&state); err != nil || state != c.want {
			t.Errorf("%s, then %s: %s, want %s, %v", c.dies, c.then, state, c.want, err)
		}
		list, _ := w.of(w.account(org), "/v1/subscriptions?status=all")["data"].([]any)
		if float64(len(list)) != c.subscriptions {
			t.Errorf("%s, then %s: %d subscriptions, want %v", c.dies, c.then, len(list), c.subscriptions)
		}
	}
}

// TestAResellersOwnBusinessIsNoneOfOurs: the account's own sales, and sales that have ended, are not recorded.
func TestAResellersOwnBusinessIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org, client := w.reseller()
	account := w.account(org)
	sale, err := w.billing.Sell(t.Context(), org, offer(client, 4900, "usd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cus := w.does(account, "/v1/customers", "email=own@example.com")["id"].(string)
	price := w.does(account, "/v1/prices",
		"currency=usd&unit_amount=700&product_data[name]=x&recurring[interval]=month")["id"].(string)
	w.does(account, "/v1/subscriptions", "customer="+cus+"&items[0][price]="+price)
	w.payAll(account)
	w.told()
	want := []connect.Split{{Sale: sale.ID, Gross: 4900, ApplicationFee: 98, FeeBPS: 200}}
	rest := cmpopts.IgnoreFields(connect.Split{}, "Invoice", "Account", "Charge", "Fee", "Currency", "StripeFee", "Net",
		"Refunded", "FeeRefunded", "PaidAt")
	if diff := cmp.Diff(want, w.splits(org), rest); diff != "" {
		t.Errorf("invoices (-want +got):\n%s", diff)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
		"http://stripe.test/v1/subscriptions/"+sale.Subscription, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Stripe-Account", account)
	w.ask(req)
	w.told()
	if n := w.count("SELECT count(*) FROM connect_sale WHERE state = 'ended'"); n != 1 {
		t.Errorf("%d sales have ended", n)
	}
}
