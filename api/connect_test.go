package api_test

import (
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// asked returns the number of requests to the platforms' token endpoints.
func (s *service) asked() (n int) {
	s.Helper()
	counts, err := s.OAuth.Counts(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, ops := range counts {
		n += ops["token"]
	}
	return n
}

// exec changes rows directly, for what otherwise needs the clock or an operator.
func (s *service) exec(sql string, args ...any) {
	s.Helper()
	if _, err := testkit.Pgx(s, s.DB.URL).Exec(s.Context(), sql, args...); err != nil {
		s.Fatal(err)
	}
}

// refused fails unless a callback returned a 400 without a redirect.
func (got answer) refused(t testing.TB) {
	t.Helper()
	got.want(t, 400, "invalid_state")
	if got.Header.Get("Location") != "" {
		t.Errorf("a refused callback sends the browser to %s", got.Header.Get("Location"))
	}
}

func TestAStateServesOnceAndOnlyWhereItWasBegun(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	spoil := func(address string, key, value string) string {
		path, query, _ := strings.Cut(address, "?")
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		q.Set(key, value)
		return path + "?" + q.Encode()
	}
	for name, attempt := range map[string]func(c *caller, b *browser, state, address string) answer{
		"made up": func(_ *caller, b *browser, _, address string) answer {
			return b.open(spoil(address, "state", "fo_"+strings.Repeat("A", 64)))
		},
		"no state": func(_ *caller, b *browser, _, address string) answer {
			return b.open(spoil(address, "state", ""))
		},
		"one character off": func(_ *caller, b *browser, state, address string) answer {
			last := map[bool]string{true: "B", false: "A"}[strings.HasSuffix(state, "A")]
			return b.open(spoil(address, "state", state[:len(state)-1]+last))
		},
		"another org's": func(_ *caller, b *browser, _, address string) answer {
			other := s.signup().browser(true).connect("social", "x", home)
			return b.open(spoil(address, "state", other.State)) // this browser lacks that state's cookie
		},
		"10 minutes and a second old": func(c *caller, b *browser, _, address string) answer {
			s.exec(`UPDATE oauth_state SET expires_at = expires_at - interval '601 seconds' WHERE org_id = $1`, c.Org)
			return b.open(address)
		},
		"another browser": func(c *caller, _ *browser, _, address string) answer {
			return c.browser(true).open(address)
		},
		"another platform": func(_ *caller, b *browser, _, address string) answer {
			return b.open(strings.Replace(address, "/oauth/x/", "/oauth/pinterest/", 1))
		},
		"no platform": func(_ *caller, b *browser, _, address string) answer {
			return b.open(strings.Replace(address, "/oauth/x/", "/oauth/myspace/", 1))
		},
		"a removed member": func(c *caller, b *browser, _, address string) answer {
			s.exec(`UPDATE member SET removed_at = now() WHERE org_id = $1`, c.Org)
			return b.open(address)
		},
		"a member who is no admin any more": func(c *caller, b *browser, _, address string) answer {
			s.exec(`UPDATE member SET role = 'member' WHERE org_id = $1`, c.Org)
			return b.open(address)
		},
		"an org that is only read from": func(c *caller, b *browser, _, address string) answer {
			s.exec(`UPDATE org SET writes_until = now() - interval '1 second' WHERE id = $1`, c.Org)
			return b.open(address)
		},
		"denied, with a state that does not hold": func(_ *caller, b *browser, _, _ string) answer {
			return b.open("/oauth/x/callback?error=access_denied&state=fo_" + strings.Repeat("A", 64))
		},
	} {
		c := s.signup()
		b := c.browser(true)
		at := b.connect("social", "x", home)
		address := b.consent(at, consent.Choice{})
		before := s.asked()
		t.Run(name, func(t *testing.T) { attempt(c, b, at.State, address).refused(t) })
		if n := s.asked(); n != before {
			t.Errorf("%s: %d token requests", name, n-before)
		}
		if n := s.count("social_pending WHERE org_id = $1", c.Org) + s.count("social_account WHERE org_id = $1",
			c.Org); n != 0 {
			t.Errorf("%s left %d rows", name, n)
		}
	}
	// A state refused in the wrong place still works once in the right one.
	c := s.signup()
	b := c.browser(true)
	address := b.consent(b.connect("social", "x", home), consent.Choice{})
	c.browser(true).open(address).refused(t)
	if q := end(t, b.open(address)); q.Get("status") != "connected" {
		t.Errorf("%v", q)
	}
	before := s.asked()
	b.open(address).refused(t)
	if s.asked() != before {
		t.Error("a replay reached the provider")
	}
}

func TestTwoTabsOfOneBrowserBothConnect(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	b := s.signup().browser(true)
	first, second := b.connect("social", "x", home), b.connect("social", "pinterest", home)
	for _, at := range []begun{second, first} {
		if q := end(t, b.open(b.consent(at, consent.Choice{}))); q.Get("status") != "connected" {
			t.Errorf("%v", q)
		}
	}
	here, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if left := b.jar.Cookies(here); len(left) != 0 {
		t.Errorf("cookies are left: %v", left)
	}
}

func TestTheCookieIsForTheConsoleAloneAndNobodyElseCanSetIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) { d.PublicURL = "https://crm.test" })
	c := s.signup()
	cookie := c.do("POST", "/api/v1/social/x/connect", nil, "Origin", "https://crm.test").Header.Get("Set-Cookie")
	for _, part := range []string{
		"__Host-funnelwork-connect-", "; Path=/", "; Secure", "; HttpOnly",
		"; SameSite=Lax", "; Max-Age=600",
	} {
		if !strings.Contains(cookie, part) {
			t.Errorf("%q lacks %q", cookie, part)
		}
	}
	if strings.Contains(cookie, "Domain") {
		t.Errorf("%q", cookie)
	}
	for _, origin := range []string{"https://evil.test", "http://crm.test", "null", ""} {
		if got := c.do("POST", "/api/v1/social/x/connect", nil, "Origin", origin); got.Header.Get("Set-Cookie") != "" {
			t.Errorf("a cookie for origin %q", origin)
		}
	}
}

func TestARedirectStaysWithinTheAllowedOrigins(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) { d.CORSOrigins = []string{"https://app.test"} })
	c := s.signup()
	for target, field := range map[string]string{
		"http://api.test/done": "", "http://api.test": "", "HTTP://API.TEST/x?y=z": "", "https://app.test/a?b=c": "",
		"https://evil.test/":         "#/redirect_url origin_not_allowed",
		"http://api.test.evil.test/": "#/redirect_url origin_not_allowed",
		"http://api.test@evil.test/": "#/redirect_url invalid_url",
		"https://app.test:8443/":     "#/redirect_url origin_not_allowed",
		"http://app.test/":           "#/redirect_url origin_not_allowed",
		"//api.test/":                "#/redirect_url origin_not_allowed", "/done": "#/redirect_url invalid_url",
		"javascript:alert(1)": "#/redirect_url invalid_url", "http:api.test": "#/redirect_url invalid_url",
		"":                                    "#/redirect_url invalid_url",
		`http://api.test\@evil.test/`:         "#/redirect_url invalid_url",
		"http://api.test/#x":                  "#/redirect_url invalid_url",
		"http://evil.test\\.api.test/":        "#/redirect_url invalid_url",
		"http://api.test/\r\nSet-Cookie: a=b": "#/redirect_url invalid_url",
		"data:text/html,x":                    "#/redirect_url invalid_url",
	} {
		got := c.do("POST", "/api/v1/social/x/connect", map[string]any{"redirect_url": target})
		if field == "" {
			got.want(t, 200, "")
		} else if got.want(t, 422, "validation_failed").field() != field {
			t.Errorf("%q: %s", target, got.Body)
		}
	}
}

func TestPlatformsThatCannotBeConnectedSaySo(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	c.do("POST", "/api/v1/social/x_ads/connect", nil).want(t, 404, "not_found")
	c.do("POST", "/api/v1/social/myspace/connect", nil).want(t, 404, "not_found")
	c.do("POST", "/api/v1/social/meta_ads/connect", nil).want(t, 404, "not_found")
	c.do("POST", "/api/v1/ads/facebook/connect", nil).want(t, 404, "not_found")
	c.as(auth.Member).do("POST", "/api/v1/social/x/connect", nil).want(t, 403, "forbidden")
	if got := c.do("POST", "/api/v1/social/x/connect", map[string]any{"account_id": id.New()}).
		want(t, 422, "validation_failed"); got.field() != "#/account_id unknown_account" {
		t.Errorf("%s", got.Body)
	}
	theirs := s.signup().login("social", "x", "Ada Lovelace")[0]
	if got := c.do("POST", "/api/v1/social/x/connect", map[string]any{"account_id": theirs.ID}).
		want(t, 422, "validation_failed"); got.field() != "#/account_id unknown_account" {
		t.Errorf("%s", got.Body)
	}
	first := c.do("POST", "/api/v1/social/x/connect", home, "Idempotency-Key", "one", "Origin", "http://api.test")
	again := c.do("POST", "/api/v1/social/x/connect", home, "Idempotency-Key", "one", "Origin", "http://api.test")
	if diff := cmp.Diff(string(first.Body), string(again.Body)); diff != "" {
		t.Errorf("a repeated connect (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first.Header.Get("Set-Cookie"), again.Header.Get("Set-Cookie")); diff != "" {
		t.Errorf("the cookie of a repeated connect (-want +got):\n%s", diff)
	}
	if n := s.count("oauth_state WHERE org_id = $1", c.Org); n != 1 {
		t.Errorf("%d rows of oauth_state, want 1", n)
	}
}

// TestAPendingConnectionIsItsBeginnersAlone: for every other caller, in this org or another, it does not exist.
func TestAPendingConnectionIsItsBeginnersAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	key := c.key(auth.Admin)
	mine, keys := c.offered("social", "x", "Ada Lovelace"), key.offered("social", "x", "Grace Hopper")
	for _, other := range []*caller{c.as(auth.Owner), key, s.signup()} {
		other.do("GET", "/api/v1/social/pending/"+mine.ID, nil).want(t, 404, "not_found")
		other.pick(mine.ID, mine.externals()...).want(t, 404, "not_found")
	}
	c.pick(keys.ID, keys.externals()...).want(t, 404, "not_found")
	for field, externals := range map[string][]string{
		"#/account_ids required":          {},
		"#/account_ids/0 unknown_account": {"no such"},
		"#/account_ids/1 duplicate":       {mine.externals()[0], mine.externals()[0]},
	} {
		if got := c.pick(mine.ID, externals...).want(t, 422, "validation_failed"); got.field() != field {
			t.Errorf("%v: %s", externals, got.Body)
		}
	}
	if n := s.count("social_account WHERE org_id = $1", c.Org); n != 0 {
		t.Errorf("%d accounts", n)
	}
	key.choose(keys.ID, keys.externals()...)
	c.choose(mine.ID, mine.externals()...)
	s.exec(`UPDATE api_key SET revoked_at = now() WHERE org_id = $1`, c.Org)
	late := c.offered("social", "x", "Alan Turing")
	s.exec(`UPDATE social_pending SET expires_at = now() - interval '1 second' WHERE org_id = $1`, c.Org)
	c.pick(late.ID, late.externals()...).want(t, 404, "not_found")
}

// TestWhatTheProviderCannotAnswerLosesNoToken fails each step of a callback.
func TestWhatTheProviderCannotAnswerLosesNoToken(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	strike := func(f oauth.Fault) {
		t.Helper()
		if err := s.OAuth.Strike(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	c := s.signup()
	b := c.browser(true)
	address := b.consent(b.connect("social", "x", home), consent.Choice{})
	strike(oauth.Fault{Family: "x", Op: "api", Status: 503, Times: 2})
	q := end(t, b.open(address))
	if q.Get("status") != "pending" {
		t.Fatalf("with the identity away: %v", q)
	}
	c.do("GET", "/api/v1/social/pending/"+q.Get("pending_id"), nil).want(t, 503, "provider_unavailable")
	c.pick(q.Get("pending_id"), "1").want(t, 409, "conflict")
	c.choose(q.Get("pending_id"), c.pending(q.Get("pending_id")).externals()...)

	address = b.consent(b.connect("social", "x", home), consent.Choice{})
	strike(oauth.Fault{Family: "x", Op: "token", Status: 503, Times: 1})
	q = end(t, b.open(address))
	if q.Get("status") != "failed" || q.Get("code") != "provider_unavailable" {
		t.Errorf("status %q, code %q; want failed, provider_unavailable", q.Get("status"), q.Get("code"))
	}
	if q.Has("pending_id") {
		t.Errorf("with the token endpoint away, the login is pending: %v", q)
	}
	address = b.consent(b.connect("social", "x", nil), consent.Choice{})
	if err := s.OAuth.Advance(t.Context(), 11*time.Minute); err != nil { // the code has expired
		t.Fatal(err)
	}
	b.open(address).want(t, 422, "provider_refused")
}

// TestAHundredCallbacksOfOneStateMakeOneAccount sends them concurrently: one succeeds, all others are refused.
func TestAHundredCallbacksOfOneStateMakeOneAccount(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	b := c.browser(true)
	address := b.consent(b.connect("social", "x", home), consent.Choice{})
	before := s.asked()
	statuses := make([]int, 100)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = b.open(address).Status })
	}
	wg.Wait()
	got := map[int]int{}
	for _, status := range statuses {
		got[status]++
	}
	if !maps.Equal(got, map[int]int{303: 1, 400: 99}) {
		t.Errorf("answers %v", got)
	}
	if n := s.asked() - before; n != 1 {
		t.Errorf("%d token requests", n)
	}
	if rows, events := s.count("social_account WHERE org_id = $1", c.Org), s.announced(c.Org); rows != 1 ||
		events["social_account.connected"] != 1 {
		t.Errorf("%d accounts, events %v", rows, events)
	}
}

// TestAHundredLoginsOfOneAccountLeaveOneRow connects one external account by many concurrent flows. The newest login's
// tokens are kept, and the account is connected once.
func TestAHundredLoginsOfOneAccountLeaveOneRow(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	flows := 100
	if testing.Short() {
		flows = 20
	}
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		all []offers
	)
	for range flows {
		wg.Go(func() {
			o := c.offered("social", "x", "Ada Lovelace")
			mu.Lock()
			defer mu.Unlock()
			all = append(all, o)
		})
	}
	wg.Wait()
	for _, o := range all {
		wg.Go(func() { c.choose(o.ID, o.externals()...) })
	}
	wg.Wait()
	rows, grants := s.count("social_account WHERE org_id = $1", c.Org),
		s.count("social_grant WHERE org_id = $1 AND status = 'active'", c.Org)
	type facts struct{ Accounts, Grants, Events int }
	if diff := cmp.Diff(facts{1, 1, 1},
		facts{rows, grants, s.announced(c.Org)["social_account.connected"]}); diff != "" {
		t.Errorf("after concurrent logins (-want +got):\n%s", diff)
	}
	youngest := s.count(`social_grant g WHERE org_id = $1 AND granted_at = (SELECT max(granted_at) FROM (
		SELECT granted_at FROM social_pending WHERE org_id = $1 UNION ALL SELECT granted_at FROM social_grant
		WHERE org_id = $1) x)`, c.Org)
	if youngest != 1 {
		t.Error("an older login's tokens were kept")
	}
	if left := s.count("social_pending WHERE org_id = $1 AND discarded_at IS NULL", c.Org); left != 0 {
		t.Errorf("%d pending connections can still be chosen from", left)
	}
}
