package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// connectShown is the response of GET /white-label/connect.
type connectShown struct {
	Status       string
	CanSell      bool    `json:"can_sell"`
	AccountID    *string `json:"account_id"`
	Requirements struct {
		Due      []string `json:"currently_due"`
		PastDue  []string `json:"past_due"`
		Pending  []string `json:"pending_verification"`
		Deadline *string  `json:"deadline_at"`
		Reason   *string  `json:"disabled_reason"`
	}
}

func (c *caller) connectState() (shown connectShown) {
	c.Helper()
	c.do("GET", "/white-label/connect", nil).want(c, 200, "").into(c, &shown)
	return shown
}

// told delivers the payment processor's events to the API and runs their jobs.
func (s *service) told() {
	s.Helper()
	out, err := s.Stripe.Outbox(context.WithoutCancel(s.Context()), 200)
	if err != nil {
		s.Fatal(err)
	}
	for _, o := range out {
		to, err := url.Parse(o.URL)
		if err != nil {
			s.Fatal(err)
		}
		req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.URL+to.Path, bytes.NewReader(o.Body))
		if err != nil {
			s.Fatal(err)
		}
		req.Header = o.Header
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			s.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			s.Fatalf("%s to %s: %d", o.Type, to.Path, res.StatusCode)
		}
		if err := s.Stripe.Sent(s.Context(), o, res.StatusCode, ""); err != nil {
			s.Fatal(err)
		}
	}
	conn := testkit.Pgx(s, s.DB.URL)
	rows, err := conn.Query(s.Context(), "DELETE FROM job WHERE kind = 'stripe.event' RETURNING org_id, args->>'event'")
	if err != nil {
		s.Fatal(err)
	}
	var org id.ID
	var event string
	todo := map[string]id.ID{}
	for rows.Next() {
		if err := rows.Scan(&org, &event); err != nil {
			s.Fatal(err)
		}
		todo[event] = org
	}
	for event, org := range todo {
		if err := s.sync().Work(s.Context(), org, event); err != nil {
			s.Fatal(err)
		}
	}
}

// onboarding requests a link like the console and returns it with the cookie.
func (c *caller) onboarding(headers ...string) (link, cookie string) {
	c.Helper()
	got := c.do("POST", "/white-label/connect/onboarding", nil, headers...).want(c, 200, "")
	var out struct{ URL string }
	got.into(c, &out)
	cookie, _, _ = strings.Cut(got.Header.Get("Set-Cookie"), ";")
	return out.URL, cookie
}

func TestAResellersAccountIsOnboardedAndItsStateShown(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup().subscribe("white_label_pro")
	fresh := c.connectState()
	want := fresh
	want.Status, want.CanSell, want.AccountID = "not_started", false, nil
	if diff := cmp.Diff(want, fresh); diff != "" {
		t.Errorf("before onboarding (-want +got):\n%s", diff)
	}
	if fresh.Requirements.Due == nil {
		t.Error("before onboarding: no list of requirements")
	}
	first, cookie := c.onboarding()
	second, _ := c.onboarding()
	if first == second || cookie != "" {
		t.Errorf("links %s and %s, cookie %q", first, second, cookie)
	}
	account := *c.connectState().AccountID
	for _, want := range []struct {
		at, state string
		sells     bool
	}{
		{stripe.Review, "pending_review", false},
		{stripe.Restricted, "restricted", false},
		{stripe.Enabled, "enabled", true},
		{stripe.Warned, "enabled", true},
		{stripe.Onboarding, "onboarding", false},
	} {
		if err := s.Stripe.SetAccount(t.Context(), account, want.at); err != nil {
			t.Fatal(err)
		}
		s.told()
		got := c.connectState()
		if got.Status != want.state || got.CanSell != want.sells {
			t.Errorf("%s: %+v", want.at, got)
		}
		r := got.Requirements
		type facts struct{ Asks, Deadline, Reason bool }
		if diff := cmp.Diff(facts{
			want.at != stripe.Enabled, want.at == stripe.Warned || want.at == stripe.Restricted, !want.sells,
		}, facts{len(r.Due)+len(r.Pending) > 0, r.Deadline != nil, r.Reason != nil}); diff != "" {
			t.Errorf("%s has (-want +got):\n%s", want.at, diff)
		}
	}
	if err := s.Stripe.Disconnect(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	s.told()
	if got := c.connectState(); got.Status != "disconnected" || got.CanSell {
		t.Errorf("%+v", got)
	}
	c.onboarding()
	if got := c.connectState(); got.Status != "onboarding" || *got.AccountID == account {
		t.Errorf("begun anew: %+v", got)
	}
	got := c.do("GET", "/white-label/connect", nil)
	c.do("GET", "/white-label/connect", nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
}

func TestOnlyTheOwnerOfAResellersOrgMayBegin(t *testing.T) {
	t.Parallel()
	s := published(t)
	s.signup().do("POST", "/white-label/connect/onboarding", nil).want(t, 402, "feature_not_in_plan")
	c := s.signup().subscribe("white_label_pro")
	c.as(auth.Admin).do("POST", "/white-label/connect/onboarding", nil).want(t, 403, "forbidden")
	c.as(auth.Member).do("GET", "/white-label/connect", nil).want(t, 403, "forbidden")
	c.as(auth.Admin).do("GET", "/white-label/connect", nil).want(t, 200, "")
	c.key(auth.Owner).do("POST", "/white-label/connect/onboarding", nil).want(t, 200, "")
	s.signup().do("GET", "/white-label/connect", nil).want(t, 200, "") // it has not begun
	// A key rejects other requests with the same key and stores no link.
	a, _ := c.onboarding("Idempotency-Key", "click")
	b, _ := c.onboarding("Idempotency-Key", "click")
	if a == b {
		t.Error("a link was kept")
	}
	c.as(auth.Owner).do("POST", "/white-label/connect/onboarding", nil, "Idempotency-Key", "click").
		want(t, 422, "idempotency_mismatch")
	// a sealed link would be longer than {}
	if n := s.count("idempotency_key WHERE key = 'click' AND octet_length(answer) >= 64"); n != 0 {
		t.Error("an answer was kept")
	}
	s.told()
	account := *c.connectState().AccountID
	if err := s.Stripe.SetAccount(t.Context(), account, stripe.Enabled); err != nil {
		t.Fatal(err)
	}
	s.told()
	if got := c.connectState(); !got.CanSell {
		t.Fatalf("%+v", got)
	}
	c.exec("UPDATE subscription SET plan = 'solo_pro', entitlement_version = entitlement_version + 1 WHERE org_id = $1",
		c.Org)
	if got := c.connectState(); got.Status != "enabled" || got.CanSell {
		t.Errorf("without the feature: %+v", got)
	}
}

func TestFiftyClicksOverTheAPIMakeOneAccount(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup().subscribe("white_label_pro")
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got, err := c.try("POST", "/white-label/connect/onboarding", nil); err != nil || got.Status != 200 {
				t.Errorf("%d %s, %v", got.Status, got.Body, err)
			}
		})
	}
	all.Wait()
	if made := s.accounts(); len(made) != 1 {
		t.Errorf("accounts %v, want one", made)
	}
	if n := s.count("connect_account WHERE org_id = $1", c.Org); n != 1 {
		t.Errorf("%d rows of connect_account, want 1", n)
	}
	if n := s.count("audit_log WHERE org_id = $1 AND action = 'connect.account_created'", c.Org); n != 1 {
		t.Errorf("%d entries in the audit log, want 1", n)
	}
}

// accounts returns all connected accounts of the payment processor.
func (s *service) accounts() (ids []string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, "http://stripe.test/v1/accounts?limit=100", nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk_test_api")
	res, err := (&http.Client{Transport: s.Stripe.Transport()}).Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		s.Fatal(err)
	}
	for _, a := range list.Data {
		ids = append(ids, a.ID)
	}
	return ids
}

// follow opens one of our addresses like a browser that comes from the payment processor.
func (s *service) follow(address, cookie string) answer {
	s.Helper()
	to, err := url.Parse(address)
	if err != nil {
		s.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+to.RequestURI(), nil)
	if err != nil {
		s.Fatal(err)
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil {
		s.Fatal(err)
	}
	return answer{Status: res.StatusCode, Header: res.Header, Body: body.Bytes()}
}

func TestABrowserThatComesBackIsBelievedInNothing(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup().subscribe("white_label_pro")
	link, cookie := c.onboarding("Origin", "http://api.test")
	if !strings.HasPrefix(cookie, "funnelwork-onboarding=") {
		t.Fatalf("no cookie: %q", cookie)
	}
	refresh, back := s.addresses(link)
	account := *c.connectState().AccountID
	// A return without progress changes nothing. A later one shows Stripe's state even before its event arrives.
	if got := s.follow(back, cookie); got.Status != 200 || !bytes.Contains(got.Body, []byte("Something is missing")) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if err := s.Stripe.SetAccount(t.Context(), account, stripe.Enabled); err != nil {
		t.Fatal(err)
	}
	if got := s.follow(back, cookie); got.Status != 200 || !bytes.Contains(got.Body, []byte("All is in order")) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := c.connectState(); got.Status != "enabled" {
		t.Errorf("%+v", got)
	}
	// The browser that began gets a new link. Another browser, which has only the address, gets neither link nor state.
	got := s.follow(refresh, cookie)
	if got.Status != 303 {
		t.Errorf("status %d, want 303", got.Status)
	}
	if to := got.Header.Get("Location"); !strings.Contains(to, "onboarding/") || to == link {
		t.Errorf("redirected to %s, want a new link to onboarding", to)
	}
	for _, other := range []string{"", "funnelwork-onboarding=guess"} {
		if got := s.follow(refresh, other); got.Status != 200 || got.Header.Get("Location") != "" {
			t.Errorf("another browser: %d to %s", got.Status, got.Header.Get("Location"))
		}
		if got := s.follow(back, other); got.Status != 200 || bytes.Contains(got.Body, []byte("All is in order")) {
			t.Errorf("another browser: %d %s", got.Status, got.Body)
		}
	}
	for _, bad := range []string{
		"/white-label/connect/refresh", "/white-label/connect/return?state=",
		"/white-label/connect/return?state=AAAA", strings.Replace(back, "state=", "state=A", 1),
	} {
		if got := s.follow(bad, cookie); got.Status != 400 || got.code() != "invalid_state" {
			t.Errorf("%s: %d %s", bad, got.Status, got.Body)
		}
	}
	// A principal without the right any more is refused on return.
	d := c.as(auth.Owner)
	link, cookie = d.onboarding("Origin", "http://api.test")
	refresh, _ = s.addresses(link)
	c.exec("UPDATE member SET removed_at = now() WHERE org_id = $1 AND user_id = $2", d.Org, d.User)
	if got := s.follow(refresh, cookie); got.Status != 400 {
		t.Errorf("a removed owner: %d", got.Status)
	}
}

// addresses returns the refresh and return addresses of a link.
func (s *service) addresses(link string) (refresh, back string) {
	s.Helper()
	back, refresh, ok := s.Stripe.LinkOf(s.Context(), link[strings.LastIndex(link, "/")+1:])
	if !ok {
		s.Fatalf("the sandbox knows no %s", link)
	}
	return refresh, back
}

func TestAResellerReadsWhoGotWhatOfItsInvoices(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup().subscribe("white_label_pro")
	var client struct{ ID id.ID }
	c.do("POST", "/api/v1/orgs/clients", map[string]any{"name": "Client"}).want(t, 201, "").into(t, &client)
	c.onboarding()
	account := *c.connectState().AccountID
	if err := s.Stripe.SetAccount(t.Context(), account, stripe.Enabled); err != nil {
		t.Fatal(err)
	}
	s.told()
	for n := range int64(3) {
		o := connect.Offer{
			Client: client.ID, Email: "books@client.example", Name: "CRM", Amount: 1000 * (n + 1),
			Currency: "usd", Interval: "month",
		}
		if _, err := connect.New(s.Deps.Billing).Sell(t.Context(), c.Org, o, nil); err != nil {
			t.Fatal(err)
		}
	}
	ledger, err := s.Stripe.OpenInvoices(t.Context(), account)
	if err != nil || len(ledger) != 3 {
		t.Fatal(ledger, err)
	}
	for _, invoice := range ledger {
		if err := s.Stripe.On(account).Pay(t.Context(), invoice); err != nil {
			t.Fatal(err)
		}
	}
	s.told()
	type page struct {
		Data []struct {
			Gross, Net int64
			Fee        int64  `json:"application_fee"`
			StripeFee  int64  `json:"stripe_fee"`
			Percent    string `json:"application_fee_percent"`
			Currency   string
		}
		HasMore bool    `json:"has_more"`
		Next    *string `json:"next_cursor"`
		Total   *int64
	}
	var first, second page
	c.do("GET", "/white-label/connect/fees?limit=2&count=exact", nil).want(t, 200, "").into(t, &first)
	if !first.HasMore || len(first.Data) != 2 {
		t.Fatalf("%d fees, has_more %v; want 2, true", len(first.Data), first.HasMore)
	}
	if diff := cmp.Diff(new(int64(3)), first.Total); diff != "" {
		t.Fatalf("total (-want +got):\n%s", diff)
	}
	c.do("GET", "/white-label/connect/fees?limit=2&cursor="+*first.Next, nil).want(t, 200, "").into(t, &second)
	var gross int64
	for _, x := range append(first.Data, second.Data...) {
		gross += x.Gross
		want := x
		want.Gross, want.Fee, want.Percent, want.Currency = x.Net+x.Fee+x.StripeFee, x.Gross/50, "2.00", "USD"
		if diff := cmp.Diff(want, x); diff != "" {
			t.Errorf("the fee (-want +got):\n%s", diff)
		}
	}
	if gross != 6000 {
		t.Errorf("%d in all", gross)
	}
	c.as(auth.Admin).do("GET", "/white-label/connect/fees", nil).want(t, 403, "forbidden")
	var other page
	s.signup().do("GET", "/white-label/connect/fees", nil).want(t, 200, "").into(t, &other)
	if len(other.Data) != 0 {
		t.Errorf("another org sees %+v", other)
	}
}

// TestReadsNeverAskThePaymentProcessor breaks every connection to it and counts requests: reads use only our rows.
func TestReadsNeverAskThePaymentProcessor(t *testing.T) {
	t.Parallel()
	s := published(t)
	c := s.signup()
	change := c.do("POST", "/billing/change-plan", plan("white_label_pro", "month")).change(t, 200, "applied")
	c.onboarding()
	var asked atomic.Int64
	s.Stripe.Break(stripe.Fault{Kind: stripe.CutBefore, Times: -1, Struck: func() { asked.Add(1) }})
	for _, path := range []string{
		"/billing/my-entitlements", "/billing/plans-with-features", "/billing/subscription",
		"/billing/changes/" + *change.ID, "/white-label/connect", "/white-label/connect/fees",
	} {
		c.do("GET", path, nil).want(t, 200, "")
		if n := asked.Swap(0); n != 0 {
			t.Errorf("GET %s asked %d times", path, n)
		}
	}
	// The counter works: an operation that needs the payment processor fails.
	c.do("POST", "/billing/portal", nil).want(t, 503, "unavailable")
	if asked.Load() == 0 {
		t.Error("a request that had to ask was not counted")
	}
}
