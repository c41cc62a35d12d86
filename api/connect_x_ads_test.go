package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

const xAds = "/api/v1/ads/x_ads/connect"

// requests returns the number of requests of an op to X Ads.
func (s *service) requests(op string) int {
	s.Helper()
	counts, err := s.OAuth.Counts(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return counts["x_ads"][op]
}

func (s *service) strike(f oauth.Fault) {
	s.Helper()
	if err := s.OAuth.Strike(s.Context(), f); err != nil {
		s.Fatal(err)
	}
}

// with returns an address with a query parameter changed, or removed if value is "".
func with(t testing.TB, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Del(name); value != "" {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// carried inspects each request to a platform before it is sent.
type carried struct {
	next http.RoundTripper
	look func(*http.Request)
}

func (c *carried) RoundTrip(r *http.Request) (*http.Response, error) {
	c.look(r)
	return c.next.RoundTrip(r)
}

func TestNoTransactionIsOpenWhileAPlatformIsAskedForARequestToken(t *testing.T) {
	t.Parallel()
	c := &carried{}
	s := start(t, unlimited, func(d *api.Deps) { d.Social = connectionsBy(c, d.Box, d.PublicURL) })
	c.next = s.OAuth.Transport()
	sql, looked := testkit.Pgx(t, s.DB.URL), 0
	c.look = func(r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/api.x.com/oauth/request_token") {
			return
		}
		var open, locks int
		err := sql.QueryRow(r.Context(), `
			SELECT (SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND state LIKE 'idle in transaction%'),
				(SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
					WHERE d.datname = current_database() AND l.locktype = 'advisory')`).Scan(&open, &locks)
		if err != nil {
			t.Error(err)
		}
		if open != 0 || locks != 0 {
			t.Errorf("%d open transactions, %d locks; want 0, 0", open, locks)
		}
		looked++
	}
	ada := s.signup()
	ada.do("POST", xAds, home, "Idempotency-Key", "one").want(t, 200, "")
	ada.do("POST", xAds, home).want(t, 200, "")
	if looked != 2 {
		t.Errorf("looked %d times", looked)
	}
}

func TestARepeatedConnectAsksXOnceAndAWrongOneNotAtAll(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	first := c.do("POST", xAds, home, "Idempotency-Key", "one", "Origin", "http://api.test").want(t, 200, "")
	again := c.do("POST", xAds, home, "Idempotency-Key", "one", "Origin", "http://api.test").want(t, 200, "")
	type facts struct{ Body, Replayed, Cookie string }
	if diff := cmp.Diff(facts{string(first.Body), "true", first.Header.Get("Set-Cookie")}, facts{
		string(again.Body), again.Header.Get("Idempotent-Replayed"), again.Header.Get("Set-Cookie"),
	}); diff != "" {
		t.Errorf("a repeated connect (-want +got):\n%s", diff)
	}
	c.do("POST", xAds, nil, "Idempotency-Key", "one").want(t, 422, "idempotency_mismatch")
	got := c.do("POST", xAds, map[string]any{"account_id": id.New()}).want(t, 422, "validation_failed")
	if got.field() != "#/account_id unknown_account" {
		t.Errorf("%s", got.Body)
	}
	c.do("POST", xAds, map[string]any{"redirect_url": "https://evil.test/"}).want(t, 422, "validation_failed")
	if n, rows := s.requests("request"), s.count("oauth_state WHERE org_id = $1", c.Org); n != 1 || rows != 1 {
		t.Errorf("X was asked %d times, %d states", n, rows)
	}
}

func TestWhatXAnswersInsteadOfARequestTokenLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	for name, f := range map[string]oauth.Fault{
		"away":                {Status: 503},
		"too often":           {Status: 429, RetryAfter: 30},
		"our credentials":     {Status: 401, Body: `{"errors":[{"code":32,"message":"?"}]}`},
		"callback not listed": {Status: 403, Body: `{"errors":[{"code":415,"message":"?"}]}`},
		"no token":            {Status: 200, Body: "<html>Maintenance</html>"},
		"not confirmed":       {Status: 200, Body: "oauth_token=a&oauth_token_secret=b"},
		"the line is cut":     {Done: true},
	} {
		f.Family, f.Op, f.Times = "x_ads", "request", 1
		s.strike(f)
		t.Run(name, func(t *testing.T) {
			c.do("POST", xAds, nil, "Idempotency-Key", "again").want(t, 503, "provider_unavailable")
		})
	}
	n := s.count("oauth_state WHERE org_id = $1", c.Org) + s.count("idempotency_key WHERE org_id = $1", c.Org)
	if n != 0 {
		t.Errorf("%d rows are left", n)
	}
	c.do("POST", xAds, nil, "Idempotency-Key", "again").want(t, 200, "")
}

// TestACallbackServesTheRequestTokenOfItsStateAlone swaps two connections of one browser that has both cookies.
func TestACallbackServesTheRequestTokenOfItsStateAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	b := c.browser(true)
	one, two := b.connect("ads", "x_ads", home), b.connect("ads", "x_ads", home)
	ada, grace := b.consent(one, consent.Choice{}), b.consent(two, consent.Choice{Person: "Grace Hopper"})
	theirs, err := url.Parse(grace)
	if err != nil {
		t.Fatal(err)
	}
	other := theirs.Query().Get("oauth_token")
	for name, address := range map[string]string{
		"another's token":               with(t, ada, "oauth_token", other),
		"another's state":               with(t, grace, "state", one.State),
		"no token":                      with(t, ada, "oauth_token", ""),
		"nothing but the state":         "/oauth/x_ads/callback?state=" + one.State,
		"denied by another":             "/oauth/x_ads/callback?denied=" + other + "&state=" + one.State,
		"a callback of OAuth 2.0":       "/oauth/x_ads/callback?code=abc&state=" + one.State,
		"another platform's connection": strings.Replace(ada, "/oauth/x_ads/", "/oauth/x/", 1),
		"no state":                      with(t, ada, "state", ""),
	} {
		t.Run(name, func(t *testing.T) { b.open(address).refused(t) })
	}
	if n := s.requests("token"); n != 0 {
		t.Fatalf("%d exchanges", n)
	}
	// A refused state still works once in the right place.
	for _, address := range []string{grace, ada} {
		if q := end(t, b.open(address)); q.Get("status") != "pending" {
			t.Errorf("%v", q)
		}
		b.open(address).refused(t)
	}
	if n := s.requests("token"); n != 2 {
		t.Errorf("%d exchanges", n)
	}
}

func TestAFailedExchangeEndsTheConnectionAndTheNextOneWorks(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	b := c.browser(true)
	for name, want := range map[string]string{"away": "provider_unavailable", "a wrong verifier": "provider_refused"} {
		address := b.consent(b.connect("ads", "x_ads", home), consent.Choice{})
		if name == "away" {
			s.strike(oauth.Fault{Family: "x_ads", Op: "token", Status: 503, Times: 1})
		} else {
			address = with(t, address, "oauth_verifier", "another")
		}
		q := end(t, b.open(address))
		if q.Get("status") != "failed" || q.Get("code") != want {
			t.Errorf("%s: status %q, code %q; want failed, %s", name, q.Get("status"), q.Get("code"), want)
		}
		if q.Has("pending_id") {
			t.Errorf("%s: the login is pending: %v", name, q)
		}
	}
	// A lost response is harmless: X returns the same token again.
	address := b.consent(b.connect("ads", "x_ads", home), consent.Choice{})
	s.strike(oauth.Fault{Family: "x_ads", Op: "token", Done: true, Times: 1})
	if q := end(t, b.open(address)); q.Get("status") != "failed" {
		t.Errorf("a lost answer: %v", q)
	}
	if got := c.login("ads", "x_ads", "Ada Lovelace"); len(got) != 3 || s.alive("Ada Lovelace") != 1 {
		t.Errorf("%+v, %d logins", got, s.alive("Ada Lovelace"))
	}
}

// TestALoginOfXAdsHasNoEndAndIsKeptSealed checks the rows of a connection from its start.
func TestALoginOfXAdsHasNoEndAndIsKeptSealed(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	b := c.browser(false)
	at := b.connect("ads", "x_ads", home)
	var sealed []byte
	row := testkit.Pgx(t, s.DB.URL).QueryRow(t.Context(), "SELECT verifier FROM oauth_state WHERE org_id = $1", c.Org)
	if err := row.Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if len(sealed) < 80 || strings.Contains(string(sealed), oauth.TokenMark) {
		t.Errorf("the request token's secret is kept as %q", sealed)
	}
	u, err := url.Parse(at.AuthorizeURL)
	if err != nil {
		t.Fatalf("authorize_url: %v", err)
	}
	if len(u.Query()) != 1 || u.Query().Get("oauth_token") == "" {
		t.Errorf("authorize at %s, want oauth_token alone", at.AuthorizeURL)
	}
	q := end(t, b.open(b.consent(at, consent.Choice{})))
	o := c.pending(q.Get("pending_id"))
	for _, a := range c.choose(o.ID, o.externals()...) {
		if a.Expires != nil || a.Status != "active" {
			t.Errorf("token_expires_at %v, status %s; want none, active", a.Expires, a.Status)
		}
		if !strings.HasPrefix(a.External, "18ce5") {
			t.Errorf("external_account_id %s", a.External)
		}
	}
	const endless = `social_grant WHERE org_id = $1 AND refresh_at IS NULL AND access_expires_at IS NULL
		AND sealed_access IS NOT NULL AND subject_id <> ''`
	if n := s.count(endless, c.Org); n != 1 {
		t.Errorf("%d logins that nothing renews", n)
	}
	s.sealed(c.Org)
}

// TestXIsToldOfTheLastLoginAlone: two orgs share the one token that X issues per person.
func TestXIsToldOfTheLastLoginAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	one, two := s.signup(), s.signup()
	accounts := map[*caller][]account{}
	for _, c := range []*caller{one, two} {
		accounts[c] = c.login("ads", "x_ads", "Ada Lovelace")
	}
	for i, c := range []*caller{one, two} {
		for _, a := range accounts[c] {
			c.do("DELETE", "/api/v1/ads/accounts/"+a.ID, nil).want(t, 204, "")
		}
		if n := s.work(s.revocation()); n == 0 {
			t.Error("nothing was to be revoked")
		}
		if alive, told := s.alive("Ada Lovelace"), s.requests("revoke"); alive != 1-i || told != i {
			t.Errorf("after org %d: %d logins at X, told %d times", i+1, alive, told)
		}
	}
}

// TestALoginWhoseAccountsAreNotReadYetKeepsTheTokenAlive: X named the token's owner when it issued the token.
func TestALoginWhoseAccountsAreNotReadYetKeepsTheTokenAlive(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	one, two := s.signup(), s.signup()
	connected := one.login("ads", "x_ads", "Ada Lovelace")
	b := two.browser(false)
	address := b.consent(b.connect("ads", "x_ads", home), consent.Choice{})
	s.strike(oauth.Fault{Family: "x_ads", Op: "api", Status: 503, Times: 1})
	q := end(t, b.open(address))
	for _, a := range connected {
		one.do("DELETE", "/api/v1/ads/accounts/"+a.ID, nil).want(t, 204, "")
	}
	if n := s.work(s.revocation()); n == 0 || s.requests("revoke") != 0 {
		t.Errorf("%d jobs, X was told %d times", n, s.requests("revoke"))
	}
	o := two.pending(q.Get("pending_id"))
	if got := two.choose(o.ID, o.externals()...); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestAPendingLoginThatNobodyChoosesFromIsEndedAtX(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	c.offered("ads", "x_ads", "Ada Lovelace")
	s.exec(`UPDATE social_pending SET expires_at = now() - interval '1 second' WHERE org_id = $1`, c.Org)
	s.exec(`UPDATE job SET run_at = $2 WHERE org_id = $1`, c.Org, time.Now().Add(-time.Hour))
	if n := s.work(s.revocation()); n != 1 || s.alive("Ada Lovelace") != 0 {
		t.Errorf("%d jobs, %d logins at X", n, s.alive("Ada Lovelace"))
	}
	if left := fmt.Sprint(s.rows("social_pending", c.Org)); left != "map[]" {
		t.Errorf("left: %s", left)
	}
}
