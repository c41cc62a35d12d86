package api_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// platforms lists where each platform is connected, and whether a login has one account, the person's, or several.
var platforms = []struct {
	name, area string
	several    bool
}{
	{"facebook", "social", true},
	{"instagram", "social", false},
	{"linkedin", "social", false},
	{"linkedin_page", "social", true},
	{"x", "social", false},
	{"tiktok", "social", false},
	{"youtube", "social", false}, // the channel is chosen at consent
	{"pinterest", "social", false},
	{"gmail", "social", false},
	{"outlook", "social", false},
	{"meta_ads", "ads", true},
	{"linkedin_ads", "ads", true},
	{"tiktok_ads", "ads", true},
	{"google_ads", "ads", true},
	{"pinterest_ads", "ads", true},
	{"x_ads", "ads", true},
}

// browser is a person's browser. It keeps cookies, follows no redirects, and knows the connection's page.
type browser struct {
	*caller
	jar     http.CookieJar
	console bool // requests come from the console, with its Origin
}

func (c *caller) browser(console bool) *browser {
	c.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.Fatal(err)
	}
	return &browser{caller: c, jar: jar, console: console}
}

type begun struct {
	AuthorizeURL string `json:"authorize_url"`
	State        string `json:"state"`
}

// connect begins a connection to platform.
func (b *browser) connect(area, platform string, body any) begun {
	b.Helper()
	var headers []string
	if b.console {
		headers = []string{"Origin", "http://api.test"}
	}
	got := b.do("POST", "/api/v1/"+area+"/"+platform+"/connect", body, headers...)
	got.want(b, 200, "")
	here, err := url.Parse(b.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.jar.SetCookies(here, (&http.Response{Header: got.Header}).Cookies())
	var out begun
	got.into(b, &out)
	return out
}

// consent completes the platform's consent page and returns the address of the redirect, on our listener.
func (b *browser) consent(at begun, c consent.Choice) string {
	b.Helper()
	back, err := consent.Give(b.Context(), &http.Client{Transport: b.OAuth.Transport(), Jar: b.jar}, at.AuthorizeURL,
		c)
	if err != nil {
		b.Fatalf("consent: %v", err)
	}
	if !strings.HasPrefix(back.String(), "http://api.test/oauth/") {
		b.Fatalf("the platform sends the browser to %s", back)
	}
	return strings.TrimPrefix(back.String(), "http://api.test")
}

// open loads one of our addresses without a credential, like a browser, and does not follow redirects.
func (b *browser) open(address string) answer {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.URL+address, nil)
	if err != nil {
		b.Fatal(err)
	}
	client := http.Client{Jar: b.jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	got := answer{Status: res.StatusCode, Header: res.Header}
	if got.Body, err = io.ReadAll(res.Body); err != nil {
		b.Fatal(err)
	}
	b.hold(req, got)
	return got
}

// end returns the query of the redirect that ends a connection.
func end(t testing.TB, got answer) url.Values {
	t.Helper()
	if got.Status != 303 {
		t.Fatalf("want a redirect, got %d %s", got.Status, got.Body)
	}
	u, err := url.Parse(got.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(u.String(), "http://api.test/accounts?") {
		t.Fatalf("redirected to %s", u)
	}
	return u.Query()
}

// home is an allowed redirect_url.
var home = map[string]any{"redirect_url": "http://api.test/accounts?tab=1"}

type account struct {
	ID         string  `json:"id"`
	OrgID      string  `json:"org_id"`
	Platform   string  `json:"platform"`
	External   string  `json:"external_account_id"`
	Name       string  `json:"display_name"`
	Status     string  `json:"status"`
	Expires    *string `json:"token_expires_at"`
	ConnectedA string  `json:"connected_at"`
}

type offers struct {
	ID       string `json:"id"`
	Platform string `json:"platform"`
	Accounts []struct {
		External  string `json:"external_account_id"`
		Name      string `json:"display_name"`
		Connected bool   `json:"connected"`
	} `json:"accounts"`
}

func (o offers) externals() (all []string) {
	for _, a := range o.Accounts {
		all = append(all, a.External)
	}
	return all
}

func (c *caller) pending(which string) (o offers) {
	c.Helper()
	got := c.do("GET", "/api/v1/social/pending/"+which, nil)
	got.want(c, 200, "")
	got.into(c, &o)
	return o
}

func (c *caller) pick(which string, externals ...string) answer {
	c.Helper()
	return c.do("POST", "/api/v1/social/pending/"+which+"/select", map[string]any{"account_ids": externals})
}

func (c *caller) choose(which string, externals ...string) []account {
	c.Helper()
	var out struct{ Data []account }
	c.pick(which, externals...).want(c, 200, "").into(c, &out)
	return out.Data
}

func (c *caller) accounts(area, query string) []account {
	c.Helper()
	got := c.do("GET", "/api/v1/"+area+"/accounts"+query, nil)
	got.want(c, 200, "")
	var out struct{ Data []account }
	got.into(c, &out)
	return out.Data
}

// offered returns the accounts which a person's login offers to an API client.
func (c *caller) offered(area, platform, person string) offers {
	c.Helper()
	b := c.browser(false)
	q := end(c, b.open(b.consent(b.connect(area, platform, home), consent.Choice{Person: person})))
	if q.Get("status") != "pending" {
		c.Fatalf("%s: %v", platform, q)
	}
	return c.pending(q.Get("pending_id"))
}

// login connects all accounts that person reaches, as an API client, and returns the accounts.
func (c *caller) login(area, platform, person string) []account {
	c.Helper()
	o := c.offered(area, platform, person)
	return c.choose(o.ID, o.externals()...)
}

// announced counts an org's events by type.
func (s *service) announced(org id.ID) map[string]int {
	counts := s.effects(org)
	maps.DeleteFunc(counts, func(what string, _ int) bool { return !strings.HasPrefix(what, "social_account.") })
	return counts
}

// TestEveryPlatformIsConnectedThroughABrowser runs the complete flow for each platform, from the console and from an
// API client: consent page, callback, choice if needed, and the accounts which the API returns afterwards.
func TestEveryPlatformIsConnectedThroughABrowser(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			c := s.signup()
			b := c.browser(true)
			q := end(t, b.open(b.consent(b.connect(p.area, p.name, home), consent.Choice{})))
			if q.Get("tab") != "1" {
				t.Errorf("the redirect lost its query: %v", q)
			}
			want := 1
			if p.several {
				if q.Get("status") != "pending" {
					t.Fatalf("with several to choose from: %v", q)
				}
				o := c.pending(q.Get("pending_id"))
				if len(o.Accounts) != 3 || o.Platform != p.name {
					t.Fatalf("offers %+v", o)
				}
				if got := c.choose(o.ID, o.Accounts[2].External, o.Accounts[0].External); len(got) != 2 ||
					got[0].External != o.Accounts[2].External {
					t.Errorf("chosen %+v", got)
				}
				c.do("GET", "/api/v1/social/pending/"+o.ID, nil).want(t, 404, "not_found")
				want = 2
			} else if q.Get("status") != "connected" || q.Get("account_id") == "" {
				t.Fatalf("with one that can be meant: %v", q)
			}
			all := c.accounts(p.area, "?platform="+p.name+"&status=active&count=exact")
			if len(all) != want {
				t.Fatalf("%d accounts, want %d: %+v", len(all), want, all)
			}
			for _, a := range all {
				want := a
				want.OrgID, want.Platform, want.Status = c.Org.String(), p.name, "active"
				if diff := cmp.Diff(want, a); diff != "" {
					t.Errorf("account (-want +got):\n%s", diff)
				}
				if a.External == "" || a.Name == "" {
					t.Errorf("external_account_id %q, display_name %q; want both", a.External, a.Name)
				}
				one := c.do("GET", "/api/v1/"+p.area+"/accounts/"+a.ID, nil)
				one.want(t, 200, "")
				if one.Header.Get("ETag") == "" {
					t.Error("no ETag")
				}
				other := map[string]string{"social": "ads", "ads": "social"}[p.area]
				c.do("GET", "/api/v1/"+other+"/accounts/"+a.ID, nil).want(t, 404, "not_found")
			}
			if got := s.announced(c.Org); got["social_account.connected"] != want {
				t.Errorf("events %v, want %d of connected", got, want)
			}

			// For an API client, nothing is connected before its user confirms.
			k := s.signup()
			kb := k.browser(false)
			q = end(t, kb.open(kb.consent(kb.connect(p.area, p.name, home), consent.Choice{})))
			if q.Get("status") != "pending" || len(k.accounts(p.area, "")) != 0 {
				t.Fatalf("an API client's callback: %v", q)
			}
			o := k.pending(q.Get("pending_id"))
			if got := k.choose(o.ID, o.externals()...); len(got) != len(o.Accounts) {
				t.Errorf("chosen %+v", got)
			}
			s.sealed(c.Org, k.Org)
		})
	}
}

// sealed checks that tokens are stored and not readable.
func (s *service) sealed(orgs ...id.ID) {
	s.Helper()
	for _, org := range orgs {
		var n int
		err := testkit.Pgx(s, s.DB.URL).QueryRow(s.Context(),
			`SELECT count(*) FROM social_grant WHERE org_id = $1 AND sealed_access IS NOT NULL AND key_id <> 0
			AND position($2::bytea IN sealed_access) = 0`, org, []byte(oauth.TokenMark)).Scan(&n)
		if err != nil || n == 0 {
			s.Errorf("%d grants with sealed tokens, %v", n, err)
		}
	}
}

func TestDeniedConsentEndsAsDenied(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	for _, p := range platforms {
		c := s.signup()
		b := c.browser(true)
		if q := end(t,
			b.open(b.consent(b.connect(p.area, p.name, home),
				consent.Choice{Deny: true}))); q.Get("status") != "denied" || q.Has("pending_id") {
			t.Errorf("%s: %v", p.name, q)
		}
	}
	c := s.signup()
	b := c.browser(false)
	if got := b.open(b.consent(b.connect("social", "x", nil), consent.Choice{Deny: true})); got.Status != 200 ||
		!strings.Contains(string(got.Body), "Not connected") {
		t.Errorf("without a redirect_url: %d %s", got.Status, got.Body)
	}
	if got := b.open(b.consent(b.connect("social", "x", "{}"), consent.Choice{})); got.Status != 200 ||
		!strings.Contains(string(got.Body), "Almost done") {
		t.Errorf("without a redirect_url: %d %s", got.Status, got.Body)
	}
	n, err := s.OAuth.Counts(t.Context())
	if err != nil {
		t.Error(err)
	}
	if n["x"]["token"] != 1 || n["facebook"]["token"] != 0 {
		t.Errorf("requests for tokens: x %d, facebook %d; want 1, 0", n["x"]["token"], n["facebook"]["token"])
	}
}
