package billing_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// onboard requests a link and returns it.
func (w *world) onboard(org id.ID) *connect.Link {
	w.Helper()
	l, err := w.billing.Onboard(w.Context(), org, "https://app.test/refresh", "https://app.test/return")
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// account returns the Stripe id of an org's account.
func (w *world) account(org id.ID) (account string) {
	w.Helper()
	if err := w.sql.QueryRow(w.Context(), "SELECT coalesce(stripe_id, '') FROM connect_account WHERE org_id = $1",
		org).Scan(&account); err != nil {
		w.Fatal(err)
	}
	return account
}

// stands sets the state of an org's account at Stripe.
func (w *world) stands(org id.ID, state string) {
	w.Helper()
	if err := w.box.SetAccount(w.Context(), w.account(org), state); err != nil {
		w.Fatal(err)
	}
}

func (w *world) connectState(org id.ID) string {
	w.Helper()
	var c *connect.Account
	err := w.App.ReadTx(w.Context(), org, func(tx *postgres.Tx) (err error) {
		c, err = connect.Read(w.Context(), tx)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return c.State
}

func (w *world) wantConnect(org id.ID, state string) {
	w.Helper()
	if got := w.connectState(org); got != state {
		w.Errorf("the account is %s, want %s", got, state)
	}
}

// accounts returns how many connected accounts of an org Stripe has ever created.
func (w *world) accounts(org id.ID) (n int) {
	w.Helper()
	list, _ := w.get("/v1/accounts?limit=100")["data"].([]any)
	for _, a := range list {
		if meta, _ := a.(map[string]any)["metadata"].(map[string]any); meta["org_id"] == org.String() {
			n++
		}
	}
	return n
}

// connectTold returns how often each event of an org's account was announced.
func (w *world) connectTold(org id.ID) string {
	w.Helper()
	return fmt.Sprintf("%d enabled, %d restricted",
		w.count("SELECT count(*) FROM event WHERE org_id = $1 AND type = 'connect.enabled'", org),
		w.count("SELECT count(*) FROM event WHERE org_id = $1 AND type = 'connect.restricted'", org))
}

func TestAnAccountGoesThroughItsStatesByEventsInAnyOrder(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("white_label_pro")
	w.wantConnect(org, connect.NotStarted)
	first, second := w.onboard(org), w.onboard(org)
	if first.URL == second.URL {
		t.Errorf("both links are %s", first.URL)
	}
	if !first.Until.After(w.now()) {
		t.Errorf("the first link is valid until %v, now is %v", first.Until, w.now())
	}
	if n := w.accounts(org); n != 1 {
		t.Errorf("%d accounts, want 1", n)
	}
	if n := w.count(
		"SELECT count(*) FROM connect_account c, stripe_event e WHERE c::text || e::text LIKE '%onboarding/%'"); n !=
		0 {
		t.Error("a link was kept")
	}
	w.told()
	w.wantConnect(org, connect.Onboarding)
	for _, c := range []struct{ at, want, told string }{
		{stripe.Review, connect.PendingReview, "0 enabled, 0 restricted"},
		{stripe.Enabled, connect.Enabled, "1 enabled, 0 restricted"},
		{stripe.Warned, connect.Enabled, "1 enabled, 0 restricted"},
		{stripe.Restricted, connect.Restricted, "1 enabled, 1 restricted"},
		{stripe.Review, connect.PendingReview, "1 enabled, 1 restricted"},
		{stripe.Restricted, connect.Restricted, "1 enabled, 2 restricted"},
		{stripe.Enabled, connect.Enabled, "2 enabled, 2 restricted"},
		{stripe.Onboarding, connect.Onboarding, "2 enabled, 2 restricted"},
		{stripe.Enabled, connect.Enabled, "3 enabled, 2 restricted"},
	} {
		w.stands(org, c.at)
		w.told()
		if got, told := w.connectState(org), w.connectTold(org); got != c.want || told != c.told {
			t.Errorf("%s at Stripe: %s, told %s; want %s, %s", c.at, got, told, c.want, c.told)
		}
	}
	// A night's events arrive shuffled, duplicated and with losses: only the final state counts.
	for seed, last := range []string{stripe.Restricted, stripe.Review, stripe.Enabled, stripe.Onboarding} {
		for _, at := range []string{stripe.Enabled, stripe.Restricted, stripe.Review, last} {
			w.stands(org, at)
		}
		all := w.outbox()
		w.deliver(append(shuffled(uint64(seed), all), all[0])...)
		w.work()
		want := map[string]string{
			stripe.Restricted: connect.Restricted, stripe.Review: connect.PendingReview,
			stripe.Enabled: connect.Enabled, stripe.Onboarding: connect.Onboarding,
		}[last]
		w.wantConnect(org, want)
	}
	old := w.account(org)
	if err := w.box.Disconnect(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	gone := w.outbox()
	w.deliver(gone...)
	w.work()
	w.wantConnect(org, connect.Disconnected)
	// Onboarding again creates another account; events of the old one are ignored.
	w.onboard(org)
	w.wantConnect(org, connect.Onboarding)
	if w.account(org) == old {
		t.Error("the account is the one that was taken away")
	}
	late := slices.Clone(gone)
	for i := range late {
		late[i].Body = []byte(strings.Replace(string(late[i].Body), "evt_", "evt_late", 1))
	}
	w.deliver(late...)
	w.work()
	w.wantConnect(org, connect.Onboarding)
	if n := w.count("SELECT count(*) FROM stripe_event WHERE worked_at IS NULL"); n != 0 {
		t.Errorf("%d events were never worked", n)
	}
	acts := w.acts()
	for _, want := range []string{"connect.account_created", "connect.state_changed", "connect.begun_anew"} {
		if !slices.Contains(acts, want) {
			t.Errorf("%v has no %s", acts, want)
		}
	}
}

// TestFiftyClicksAtOnceMakeOneAccount starts 50 concurrent requests, the first of them delayed at Stripe.
func TestFiftyClicksAtOnceMakeOneAccount(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("white_label_pro")
	w.box.Break(stripe.Fault{
		Kind: stripe.Slow, Method: http.MethodPost, Path: "/v1/accounts", Times: 1,
		Delay: 300 * time.Millisecond,
	})
	var all sync.WaitGroup
	urls := make([]string, 50)
	for i := range urls {
		s := w.service(nil)
		all.Go(func() {
			l, err := s.Onboard(t.Context(), org, "https://app.test/refresh", "https://app.test/return")
			if err != nil {
				t.Errorf("click %d: %v", i, err)
				return
			}
			urls[i] = l.URL
		})
	}
	all.Wait()
	slices.Sort(urls)
	if got := len(slices.Compact(urls)); got != 50 {
		t.Errorf("%d links, want 50", got)
	}
	if n := w.accounts(org); n != 1 {
		t.Errorf("%d accounts at Stripe, want 1", n)
	}
	if n := w.count("SELECT count(*) FROM connect_account"); n != 1 {
		t.Errorf("%d accounts in the database, want 1", n)
	}
	created := 0
	for _, a := range w.acts() {
		if a == "connect.account_created" {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d times in the log", created)
	}
}

// TestAnAccountThatWasHalfMadeIsFoundAgain kills the process at each step and makes Stripe fail in each way; the next
// request, or the sync, continues with what exists.
func TestAnAccountThatWasHalfMadeIsFoundAgain(t *testing.T) {
	t.Parallel()
	for _, bySync := range []bool{false, true} {
		w := begin(t)
		for name, c := range map[string]struct {
			dies  string
			fails stripe.FaultKind
			later time.Duration
		}{
			"before Stripe was asked":            {dies: "intended", later: 2 * time.Minute},
			"between the answer and the commit":  {dies: "made", later: 2 * time.Minute},
			"the same, found a day later":        {dies: "made", later: 25 * time.Hour},
			"before Stripe, found a day later":   {dies: "intended", later: 25 * time.Hour},
			"within the commit":                  {dies: "adopting", later: 2 * time.Minute},
			"after the commit":                   {dies: "adopted", later: 2 * time.Minute},
			"the line breaks before Stripe acts": {fails: stripe.CutBefore, later: 2 * time.Minute},
			"the line breaks after Stripe acted": {fails: stripe.CutAfter, later: 2 * time.Minute},
			"Stripe fails and keeps it":          {fails: stripe.Internal, later: 2 * time.Minute},
			"Stripe acts and says that it fails": {fails: stripe.ActedError, later: 2 * time.Minute},
		} {
			org := w.on("white_label_pro")
			w.dies(c.dies)
			if c.fails != "" {
				w.box.Break(stripe.Fault{Kind: c.fails, Method: http.MethodPost, Path: "/v1/accounts", Times: 2})
			}
			_, err := w.billing.Onboard(t.Context(), org, "https://app.test/refresh", "https://app.test/return")
			if err == nil && c.fails != stripe.ActedError { // the account is searched for at once
				t.Fatalf("%s: nothing happened", name)
			}
			w.box.Mend()
			w.dies("")
			w.pass(c.later)
			if bySync {
				if r, err := w.billing.ReconcileAccounts(t.Context(), false); err != nil || r.Failed != 0 {
					t.Fatalf("%s: %+v, %v", name, r, err)
				}
			} else {
				w.onboard(org)
			}
			if n := w.accounts(org); n != 1 || w.account(org) == "" {
				t.Errorf("%s: %d accounts, ours is %q", name, n, w.account(org))
			}
			w.wantConnect(org, connect.Onboarding)
		}
	}
}

// TestALostEventOfAnAccountIsRepairedByTheNextSync: without an event, the sync, which runs every 15 minutes, finds the
// change. It lists all accounts, and reads an account individually only if the listing does not suffice.
func TestALostEventOfAnAccountIsRepairedByTheNextSync(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.billing = w.service(func(o *billing.Options) { o.Sleep = w.sleeps })
	want := map[id.ID]string{}
	for i := range 105 { // more than one page
		org := w.org()
		account := w.post("/v1/accounts", "type=standard&metadata[org_id]="+org.String())["id"].(string)
		if _, err := w.sql.Exec(t.Context(),
			`INSERT INTO connect_account (org_id, stripe_id, stripe_key, keyed_at, intended_at, state,
				state_since, created_at, updated_at)
			VALUES ($1, $2, $2, now(), now(), 'onboarding', now(), now(), now())`, org, account); err != nil {
			t.Fatal(err)
		}
		want[org] = connect.Onboarding
		switch i % 50 {
		case 1:
			w.stands(org, stripe.Enabled)
			want[org] = connect.Enabled
		case 2:
			w.stands(org, stripe.Restricted)
			want[org] = connect.Restricted
		case 3:
			if err := w.box.Disconnect(t.Context(), account); err != nil {
				t.Fatal(err)
			}
			want[org] = connect.Disconnected
		}
	}
	w.outbox() // lost
	w.pass(15 * time.Minute)
	if _, err := w.billing.ReconcileAccounts(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for org, state := range want {
		w.wantConnect(org, state)
	}
	if n := w.count("SELECT count(*) FROM event WHERE type IN ('connect.enabled', 'connect.restricted')"); n != 6 {
		t.Errorf("%d events were told, want 6", n)
	}
	r, err := w.billing.ReconcileAccounts(t.Context(), false)
	if err != nil {
		t.Errorf("a second sync: %v", err)
	}
	if r.Requests > 3 {
		t.Errorf("a second sync: %d requests, want at most 3", r.Requests)
	}
	if diff := cmp.Diff(billing.Report{Same: 102}, r, cmpopts.IgnoreFields(r, "Requests")); diff != "" {
		t.Errorf("a second sync (-want +got):\n%s", diff)
	}
}

func TestEventsOfOthersAccountsAreKeptAndIgnored(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("white_label_pro")
	w.onboard(org)
	stranger := w.post("/v1/accounts", "type=standard&metadata[org_id]="+org.String())["id"].(string)
	if err := w.box.SetAccount(t.Context(), stranger, stripe.Enabled); err != nil {
		t.Fatal(err)
	}
	w.told()
	w.wantConnect(org, connect.Onboarding)
	if n := w.count("SELECT count(*) FROM stripe_event WHERE account = $1 AND org_id = $2 AND outcome = 'ignored' "+
		"AND worked_at IS NOT NULL", stranger, id.ID{}); n < 2 {
		t.Errorf("%d events are kept of the stranger", n)
	}
	// An event that names a customer of ours, and one without an account, belong to no org either.
	for n, account := range []string{stranger, ""} {
		e := map[string]any{
			"id": fmt.Sprintf("evt_forged%d", n), "object": "event", "api_version": "2023-10-16",
			"created": w.now().Unix(), "type": "customer.subscription.deleted",
			"data": map[string]any{"object": map[string]any{
				"id": "sub_1", "object": "subscription",
				"customer": w.customer(org),
			}},
		}
		if account != "" {
			e["account"] = account
		}
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.billing.Intake(t.Context(), body, stripe.Sign(w.secret, w.now(), body), true); !fault.Is(err,
			fault.InvalidSignature) {
			t.Errorf("the platform's secret opens the endpoint: %v", err)
		}
		if err := w.billing.Intake(t.Context(), body, stripe.Sign(w.connect, w.now(), body), true); err != nil {
			t.Fatal(err)
		}
	}
	w.work()
	w.want(org, "white_label_pro month active")
	if n := w.count(
		"SELECT count(*) FROM stripe_event WHERE id LIKE 'evt_forged%' AND org_id = $1 AND outcome = 'ignored'",
		id.ID{}); n != 2 {
		t.Errorf("%d are ignored", n)
	}
}

func TestAClientOrgHasNoAccount(t *testing.T) {
	t.Parallel()
	w := begin(t)
	agency, client := w.on("white_label_pro"), id.New()
	if _, err := w.sql.Exec(t.Context(), "INSERT INTO org (id, name, parent_org_id) VALUES ($1, 'Client', $2)",
		client, agency); err != nil {
		t.Fatal(err)
	}
	if _, err := w.billing.Onboard(t.Context(), client, "https://app.test/refresh",
		"https://app.test/return"); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	w.wantConnect(client, connect.NotStarted)
}

// TestWhileStripeIsAwayNothingIsDecided: the state is unchanged, and a request gets a fault with Retry-After.
func TestWhileStripeIsAwayNothingIsDecided(t *testing.T) {
	t.Parallel()
	w := begin(t)
	org := w.on("white_label_pro")
	w.onboard(org)
	w.stands(org, stripe.Enabled)
	w.told()
	w.stands(org, stripe.Restricted)
	w.deliver(w.outbox()...)
	w.box.Break(stripe.Fault{Kind: stripe.CutBefore, Times: -1})
	if err := w.billing.Work(t.Context(), org, w.hooks[0]); !billing.Away(err) {
		t.Errorf("%v", err)
	}
	if _, err := w.billing.Onboard(t.Context(), org, "https://app.test/refresh",
		"https://app.test/return"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	w.wantConnect(org, connect.Enabled)
	w.box.Mend()
	w.work()
	w.wantConnect(org, connect.Restricted)
}
