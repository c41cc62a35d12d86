package api_test

import (
	"maps"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

const salesPath = "/white-label/connect/sales"

// seller is an org with an enabled payment account and a client.
type seller struct {
	*caller
	account   string
	clientOrg string
}

func (s *service) seller() *seller {
	s.Helper()
	r := &seller{caller: s.signup().subscribe("white_label_pro")}
	var client struct{ ID string }
	r.do("POST", clientsPath, map[string]any{"name": "Client"}).want(r, 201, "").into(r, &client)
	r.onboarding()
	r.clientOrg, r.account = client.ID, *r.connectState().AccountID
	r.enter(stripe.Enabled)
	return r
}

// enter brings the account at the payment processor into a state that the service knows.
func (r *seller) enter(state string) {
	r.Helper()
	if err := r.Stripe.SetAccount(r.Context(), r.account, state); err != nil {
		r.Fatal(err)
	}
	r.service.told()
}

// offer returns the body of a sale. Each change replaces members.
func (r *seller) offer(change ...map[string]any) map[string]any {
	body := map[string]any{
		"client_org_id": r.clientOrg, "email": "books@client.example", "name": "CRM", "amount": 4900, "currency": "usd",
		"interval": "month",
	}
	for _, c := range change {
		maps.Copy(body, c)
	}
	return body
}

type saleAnswer struct {
	ID             string
	ClientOrgID    string `json:"client_org_id"`
	Status         string
	Name, Email    string
	Amount         int64
	Currency       string
	Interval       string
	DaysUntilDue   int     `json:"days_until_due"`
	FeePercent     string  `json:"application_fee_percent"`
	SubscriptionID *string `json:"subscription_id"`
	CreatedAt      string  `json:"created_at"`
}

func TestAResellerBillsAClient(t *testing.T) {
	t.Parallel()
	s := published(t)
	r := s.seller()
	var sale saleAnswer
	r.do("POST", salesPath, r.offer()).want(t, 201, "").into(t, &sale)
	if sale.SubscriptionID == nil || sale.CreatedAt == "" || sale.ID == "" {
		t.Fatalf("%+v", sale)
	}
	want := saleAnswer{
		ID: sale.ID, ClientOrgID: r.clientOrg, Status: "active", Name: "CRM",
		Email: "books@client.example", Amount: 4900,
		Currency: "USD", Interval: "month", DaysUntilDue: 14, FeePercent: "2.00", SubscriptionID: sale.SubscriptionID,
		CreatedAt: sale.CreatedAt,
	}
	if sale != want {
		t.Errorf("got %+v, want %+v", sale, want)
	}
	if open, err := s.Stripe.OpenInvoices(t.Context(), r.account); err != nil || len(open) != 1 {
		t.Errorf("invoices %v, %v", open, err)
	}
	if n := s.count("audit_log WHERE org_id = $1 AND action = 'connect.sale_made'", r.Org); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	r.key(auth.Owner).do("POST", salesPath, r.offer(map[string]any{"interval": "year", "days_until_due": 30})).
		want(t, 201, "").into(t, &sale)
	if sale.Interval != "year" || sale.DaysUntilDue != 30 {
		t.Errorf("%+v", sale)
	}
}

func TestASaleIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	s := published(t)
	r, other := s.seller(), s.seller()
	changed := func(member string, value any) map[string]any { return r.offer(map[string]any{member: value}) }
	starter := s.signup().subscribe("white_label_pro")
	const invalid = "validation_failed"
	for name, c := range map[string]struct {
		by   *caller
		body any
		at   int
		code string
	}{
		"no amount":                    {r.caller, changed("amount", 0), 422, invalid},
		"a fraction":                   {r.caller, changed("amount", 1.5), 422, invalid},
		"an unknown currency's form":   {r.caller, changed("currency", "dollars"), 422, invalid},
		"an unknown interval":          {r.caller, changed("interval", "week"), 422, invalid},
		"no address":                   {r.caller, changed("email", "books"), 422, invalid},
		"no name":                      {r.caller, changed("name", ""), 422, invalid},
		"days beyond a year":           {r.caller, changed("days_until_due", 366), 422, invalid},
		"an unknown member":            {r.caller, changed("fee", 0), 422, invalid},
		"nothing":                      {r.caller, map[string]any{}, 422, invalid},
		"a client of another reseller": {r.caller, other.offer(), 404, "not_found"},
		"an admin":                     {r.as(auth.Admin), r.offer(), 403, "forbidden"},
		"a plan without the feature":   {s.signup(), r.offer(), 402, "feature_not_in_plan"},
		"no account":                   {starter, r.offer(), 409, "connect_not_enabled"},
		"no credential":                {s.stranger(), r.offer(), 401, "unauthorized"},
	} {
		if got := c.by.do("POST", salesPath, c.body); got.Status != c.at || got.code() != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, got.Status, got.Body, c.at, c.code)
		}
	}
	r.enter(stripe.Restricted)
	r.do("POST", salesPath, r.offer()).want(t, 409, "connect_not_enabled")
	if n := s.count("connect_sale WHERE state <> 'failed'"); n != 0 {
		t.Errorf("%d sales", n)
	}
}

func TestARepeatedSaleWithItsKeyIsOneSale(t *testing.T) {
	t.Parallel()
	s := published(t)
	r := s.seller()
	var all sync.WaitGroup
	answers := make([]answer, 20)
	for i := range answers {
		all.Go(func() {
			var err error
			if answers[i], err = r.try("POST", salesPath, r.offer(), "Idempotency-Key", "one"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, got := range answers {
		if got.Status != 201 && got.Status != 202 && (got.Status != 409 || got.code() != "idempotency_in_flight") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	again := r.do("POST", salesPath, r.offer(), "Idempotency-Key", "one").want(t, 201, "")
	if again.Header.Get("Idempotent-Replayed") != "true" || s.count("connect_sale WHERE org_id = $1", r.Org) != 1 {
		t.Errorf("%v, %d sales", again.Header, s.count("connect_sale WHERE org_id = $1", r.Org))
	}
	if open, err := s.Stripe.OpenInvoices(t.Context(), r.account); err != nil || len(open) != 1 {
		t.Errorf("invoices %v, %v", open, err)
	}
	r.do("POST", salesPath, r.offer(map[string]any{"amount": 1}), "Idempotency-Key", "one").
		want(t, 422, "idempotency_mismatch")
	r.do("POST", salesPath, r.offer(), "Idempotency-Key", "two").want(t, 201, "")
}

func TestASaleWithoutThePaymentProcessorIsContinuedByTheSync(t *testing.T) {
	t.Parallel()
	s := published(t)
	r := s.seller()
	s.Stripe.Break(stripe.Fault{Kind: stripe.CutBefore, Times: -1})
	var begun, now saleAnswer
	r.do("POST", salesPath, r.offer(), "Idempotency-Key", "k").want(t, 202, "").into(t, &begun)
	r.do("POST", salesPath, r.offer(), "Idempotency-Key", "k").want(t, 202, "").into(t, &now)
	if begun != now || begun.Status != "in_flight" || begun.SubscriptionID != nil {
		t.Errorf("%+v, then %+v", begun, now)
	}
	s.Stripe.Mend()
	r.exec("UPDATE connect_sale SET created_at = created_at - interval '2 minutes' WHERE org_id = $1", r.Org)
	if rep, err := s.sync().ReconcileSales(t.Context()); err != nil || rep.Failed != 0 || rep.Repaired == 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	r.do("POST", salesPath, r.offer(), "Idempotency-Key", "k").want(t, 201, "").into(t, &now)
	if now.ID != begun.ID || now.Status != "active" || now.SubscriptionID == nil {
		t.Errorf("%+v", now)
	}
}

func TestARepeatedSaleThatFailedFailsAlike(t *testing.T) {
	t.Parallel()
	s := published(t)
	r := s.seller()
	// The payment processor has stopped the account, and its event has not arrived.
	if err := s.Stripe.SetAccount(t.Context(), r.account, stripe.Restricted); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.do("POST", salesPath, r.offer(), "Idempotency-Key", "k").want(t, 422, "provider_refused")
	}
	if err := s.Stripe.Disconnect(t.Context(), r.account); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.do("POST", salesPath, r.offer(), "Idempotency-Key", "l").want(t, 409, "connect_not_enabled")
	}
	if n := s.count("connect_sale WHERE org_id = $1 AND state = 'failed'", r.Org); n != 2 {
		t.Errorf("%d failed sales, want 2", n)
	}
}
