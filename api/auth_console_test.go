package api_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const consolePath = "/api/v1/auth/console/"

// console sends a request as the console's pages do. headers are pairs and replace its own.
func (c *caller) console(path string, body any, headers ...string) answer {
	c.Helper()
	return c.do(http.MethodPost, consolePath+path, body,
		append([]string{"X-Funnelwork-Console", "1", "Origin", c.URL}, headers...)...)
}

// cookieOf returns the cookie that a response sets.
func cookieOf(t testing.TB, got answer) *http.Cookie {
	t.Helper()
	one, err := http.ParseSetCookie(got.Header.Get("Set-Cookie"))
	if err != nil {
		t.Fatalf("%v: %q, %d %s", err, got.Header.Get("Set-Cookie"), got.Status, got.Body)
	}
	return one
}

// newcomer signs up a person and returns their address.
func (s *service) newcomer(email string) tokens {
	s.Helper()
	return s.stranger().tokens("signup", map[string]any{"org_name": "A", "email": email, "password": goodPassword}, 201)
}

// signIn signs Ada in to the console and returns the caller and the Cookie header.
func (s *service) signIn(headers ...string) (*caller, string) {
	s.Helper()
	ada := map[string]any{"email": "ada@example.com", "password": goodPassword}
	got := s.stranger().console("login", ada, headers...).
		want(s, 200, "")
	var in tokens
	got.into(s, &in)
	return s.stranger().with(in), cookieOf(s, got).Name + "=" + cookieOf(s, got).Value
}

func TestTheConsolesRefreshTokenIsInItsCookieAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	s.newcomer("ada@example.com")
	got := s.stranger().console("login", map[string]any{"email": "ada@example.com", "password": goodPassword}).
		want(t, 200, "")
	one := cookieOf(t, got)
	if !one.HttpOnly || one.SameSite != http.SameSiteStrictMode || one.Domain != "" || one.Secure ||
		one.Path != "/api/v1/auth/console" || one.MaxAge <= 0 {
		t.Errorf("cookie %q", got.Header.Get("Set-Cookie"))
	}
	var members map[string]json.RawMessage
	got.into(t, &members)
	if _, found := members["refresh_token"]; found || strings.Contains(string(got.Body), one.Value) {
		t.Errorf("the answer has the refresh token: %s", got.Body)
	}
	var in tokens
	got.into(t, &in)
	claims := jwt.MapClaims{}
	_, _, err := jwt.NewParser().ParseUnverified(in.AccessToken, claims)
	if err != nil || claims["client"] != "console" {
		t.Errorf("claim client %v, %v", claims["client"], err)
	}
	c := s.stranger().with(in)
	c.do("GET", mePath, nil).want(t, 200, "")
	var l struct {
		Data []struct {
			ID      string
			Current bool
		}
	}
	c.do("GET", "/api/v1/auth/sessions", nil).want(t, 200, "").into(t, &l)
	if at := slices.IndexFunc(l.Data, func(o struct {
		ID      string
		Current bool
	},
	) bool {
		return o.Current
	}); at < 0 || l.Data[at].ID != claims["sid"] {
		t.Errorf("sessions %+v; sid %v", l.Data, claims["sid"])
	}
}

func TestNoOtherOperationHonoursTheConsolesCookie(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	s.newcomer("ada@example.com")
	_, cookie := s.signIn()
	_, value, _ := strings.Cut(cookie, "=")
	c := s.stranger()
	c.do("GET", mePath, nil, "Cookie", cookie).want(t, 401, "unauthorized")
	c.do("POST", "/api/v1/auth/refresh", map[string]any{}, "Cookie", cookie).want(t, 422, "")
	c.do("POST", "/api/v1/auth/refresh", map[string]any{"refresh_token": value}).want(t, 401, "invalid_token")
	in, _ := s.signIn()
	in.do("POST", "/api/v1/auth/switch", map[string]any{"org_id": in.Org}).want(t, 403, "forbidden")
	for name, two := range map[string]string{"another's": cookie + "; funnelwork_console=x", "none": ""} {
		if got := c.console("refresh", nil, "Cookie", two); got.code() != "invalid_token" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	c.console("refresh", nil, "Cookie", `a="b; `+cookie+"; c").want(t, 200, "")
}

func TestOnlyPagesOfTheHostThatIsAskedMaySignIn(t *testing.T) {
	t.Parallel()
	known := &hosts{of: map[string]id.ID{}}
	s := start(t, unlimited, func(d *api.Deps) {
		d.Hosts, d.TrustedProxies = known, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	up := s.newcomer("ada@example.com")
	known.give(acmeHost, up.Org.ID)
	host := strings.TrimPrefix(s.URL, "http://")
	login := map[string]any{"email": "ada@example.com", "password": goodPassword}
	for name, headers := range map[string][]string{
		"no header":         {"X-Funnelwork-Console", ""},
		"another header":    {"X-Funnelwork-Console", "true"},
		"no origin":         {"Origin", ""},
		"null":              {"Origin", "null"},
		"another host":      {"Origin", "http://evil.test"},
		"another port":      {"Origin", "http://127.0.0.1:1"},
		"a longer name":     {"Origin", s.URL + ".evil.test"},
		"with a user":       {"Origin", "http://" + host + "@evil.test"},
		"with a path":       {"Origin", s.URL + "/"},
		"another scheme":    {"Origin", "ftp://" + host},
		"http behind https": {"X-Forwarded-Proto", "https"},
		"the public host":   {"Origin", "http://api.test"},
	} {
		for _, path := range []string{"login", "refresh", "logout", "switch"} {
			for _, body := range []any{nil, login} {
				if got := s.stranger().console(path, body, headers...); got.Status != 403 || got.code() != "forbidden" {
					t.Errorf("%s: %s: %d %s", name, path, got.Status, got.Body)
				}
			}
		}
	}
	for name, tc := range map[string]struct {
		headers []string
		secure  bool
	}{
		"localhost":        {nil, false},
		"custom domain":    {[]string{"Host", acmeHost, "Origin", "https://" + acmeHost}, true},
		"its default port": {[]string{"Host", acmeHost + ":443", "Origin", "https://" + acmeHost}, true},
		"behind a proxy": {
			[]string{"Host", acmeHost, "Origin", "https://" + acmeHost, "X-Forwarded-Proto", "https"}, true,
		},
		"upper case": {[]string{"Host", "CRM.Acme.test", "Origin", "http://" + acmeHost}, false},
	} {
		got := s.stranger().console("login", login, tc.headers...)
		if got.Status != 200 || cookieOf(t, got).Secure != tc.secure {
			t.Errorf("%s: %d %s %s", name, got.Status, got.Header.Get("Set-Cookie"), got.Body)
		}
	}
	s.stranger().console("login", login, "Host", "unknown.test", "Origin", "https://unknown.test").
		want(t, 421, "")
}

func TestAnInstallWithHTTPSSetsASecureCookie(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited, func(d *api.Deps) { d.PublicURL = "https://api.test" })
	s.newcomer("ada@example.com")
	login := map[string]any{"email": "ada@example.com", "password": goodPassword}
	if got := s.stranger().console("login", login, "Host", "api.test", "Origin", "https://api.test"); !cookieOf(t,
		got).Secure {
		t.Errorf("cookie %s", got.Header.Get("Set-Cookie"))
	}
	s.stranger().console("login", login, "Host", "api.test", "Origin", "http://api.test").want(t, 403, "forbidden")
}

func TestAConsoleSessionIsRefreshedSwitchedAndEnded(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	up := s.newcomer("ada@example.com")
	second := s.newcomer("eve@example.com")
	s.super(`INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, 'viewer')`, second.Org.ID, up.User.ID)
	c, cookie := s.signIn()
	named := func(got answer) string { return cookieOf(t, got).Name + "=" + cookieOf(t, got).Value }

	first := c.console("refresh", nil, "Cookie", cookie).want(t, 200, "")
	lost := c.console("refresh", nil, "Cookie", cookie).want(t, 200, "")
	if named(first) != named(lost) {
		t.Error("a lost response is not repeated")
	}
	next := c.console("refresh", nil, "Cookie", named(first)).want(t, 200, "")

	other := c.console("switch", map[string]any{"org_id": second.Org.ID}, "Cookie", named(next)).want(t, 200, "")
	var in tokens
	other.into(t, &in)
	if in.Org.ID != second.Org.ID || in.Role != "viewer" {
		t.Errorf("switched to %+v as %s", in.Org, in.Role)
	}
	c.console("switch", map[string]any{"org_id": id.New()}, "Cookie", named(other)).want(t, 404, "not_found")
	s.stranger().console("switch", map[string]any{"org_id": second.Org.ID}).want(t, 401, "invalid_token")

	gone := c.console("logout", nil, "Cookie", named(other)).want(t, 204, "")
	if one := cookieOf(t, gone); one.MaxAge >= 0 || one.Value != "" || one.Path != "/api/v1/auth/console" {
		t.Errorf("logout sets %q", gone.Header.Get("Set-Cookie"))
	}
	s.stranger().with(in).do("GET", mePath, nil).want(t, 401, "session_ended")
	c.console("refresh", nil, "Cookie", named(other)).want(t, 401, "invalid_token")
	c.console("logout", nil).want(t, 204, "")

	ada, cookie := s.signIn("Cookie", cookie)
	used := cookie
	for range 2 {
		cookie = named(c.console("refresh", nil, "Cookie", cookie).want(t, 200, ""))
	}
	c.console("refresh", nil, "Cookie", used).want(t, 401, "invalid_token")
	c.console("refresh", nil, "Cookie", cookie).want(t, 401, "invalid_token")
	ada.do("GET", mePath, nil).want(t, 401, "session_ended")
	again := s.stranger().with(second) // the owner of the org that the session was in
	if acts := again.acts(); !strings.Contains(acts, "session.reuse_detected") {
		t.Errorf("audit log: %s", acts)
	}
}

func TestTheConsolesRequestsHaveABucketPerOrgAndUser(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	s := start(t, limitedBy(t, redis, prometheus.NewRegistry()))
	s.newcomer("ada@example.com")
	first, _ := s.signIn()
	second, _ := s.signIn() // another session of the same user
	there := *s             // another process
	limitedBy(t, redis, prometheus.NewRegistry())(&there.Deps)
	there.App = api.New(there.Deps)
	there.serve()
	twin := second.at(&there)
	var mu sync.Mutex
	got := map[int]int{}
	var wg sync.WaitGroup
	for n := range 32 {
		at := []*caller{first, second, twin}[n%3]
		wg.Go(func() {
			for range 25 {
				status := at.do("GET", "/api/v1/events/x", nil).Status
				mu.Lock()
				got[status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if got[404] != 300 || got[429] != 500 {
		t.Errorf("statuses %v, want 300 and 500 refused", got)
	}
	refused := first.do("GET", mePath, nil).want(t, 429, "rate_limited")
	if policy := refused.Header.Get("RateLimit-Policy"); policy != `"burst";q=300;w=30, "default";q=300;w=60` ||
		refused.Header.Get("Retry-After") == "" || refused.Header.Get("X-RateLimit-Limit") != "300" {
		t.Errorf("headers %v", refused.Header)
	}
	bearer := s.stranger().with(s.stranger().tokens("login",
		map[string]any{"email": "ada@example.com", "password": goodPassword}, 200))
	answered := bearer.do("GET", mePath, nil).want(t, 200, "")
	if left := answered.Header.Get("X-RateLimit-Remaining"); left != "199" {
		t.Errorf("the org's bucket has %s left, want 199", left)
	}
	colleague := &caller{service: s, Org: first.Org}
	colleague.as(auth.Viewer).do("GET", mePath, nil).want(t, 200, "")
}
