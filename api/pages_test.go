package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// hosts is a fake host resolver.
type hosts struct {
	mu sync.Mutex
	of map[string]id.ID
}

func (h *hosts) Org(host string) (id.ID, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	org, ok := h.of[host]
	return org, ok
}

func (h *hosts) give(host string, org id.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of[host] = org
}

const acmeHost = "crm.acme.test"

// acme returns a reseller with a brand, hide_brand set, and a host.
func acme(t *testing.T, change ...func(*api.Deps)) *caller {
	t.Helper()
	known := &hosts{of: map[string]id.ID{}}
	s := start(t, append(change, unlimited, func(d *api.Deps) { d.Hosts = known })...)
	c := s.reseller()
	known.give(acmeHost, c.Org)
	c.do("PATCH", brandPath,
		`{"brand_name":"Acme","colors":{"primary":"#8a1c4a","accent":"#b8326a"},"hide_brand":true,`+
			`"support_email":"help@acme.test"}`).want(t, 200, "")
	c.do("PUT", logoPath, logoPNG(t, 40, 10), "Content-Type", "image/png").want(t, 200, "")
	return c
}

// standing is a plan and its name in the golden files.
type standing struct {
	name  string
	state plans.State
}

// standings are in the order in which the test applies them. The last is a downgrade, after which the first applies
// again.
var standings = []standing{
	{"hidden", plans.State{Plan: "white_label_pro", Interval: "month", Status: plans.Active, Quantity: 1}},
	{"unentitled", plans.State{Plan: "solo_pro", Interval: "month", Status: plans.Active, Quantity: 1}},
	{"hides_alone", plans.State{Plan: "agency_growth", Interval: "month", Status: plans.Active, Quantity: 1}},
	{"downgraded", plans.State{Plan: "white_label_pro", Interval: "month", Status: plans.Canceled, Quantity: 1}},
	{"hidden", plans.State{Plan: "white_label_pro", Interval: "month", Status: plans.Active, Quantity: 1}},
}

// named reports whether visible text contains the platform's name, in any case. It ignores names of the protocol, which
// are the same for every org.
func named(b []byte) bool {
	b = bytes.ReplaceAll(b, []byte("X-Funnelwork-Console"), nil)
	return bytes.Contains(bytes.ToLower(b), []byte("funnelwork"))
}

// each runs look under every standing. own and platform report which brand must be visible.
func (c *caller) each(t *testing.T, look func(name string, own, platform bool)) {
	t.Helper()
	for _, s := range standings {
		c.state(s.state)
		c.Deps.Brands.Forget(c.Org)
		look(s.name, s.name == "hidden", s.name == "unentitled" || s.name == "downgraded")
	}
}

// resolver replaces the API's brand cache, so that a test need not wait a second.
func resolver(d *api.Deps) { d.Brands = api.BrandsOf(*d) }

// shellBrand finds the parts of the console's HTML that show a brand.
var shellBrand = regexp.MustCompile(`<title>.*</title>|<meta name="brand"[^>]*>|<style>.*</style>`)

// TestEveryPageBearsTheBrandThatThePlanAllows compares golden files of each page: with the brand, hidden without a
// name, and as the platform's after a downgrade, which loses no settings.
func TestEveryPageBearsTheBrandThatThePlanAllows(t *testing.T) {
	t.Parallel()
	c := acme(t, resolver)
	seen := map[string]bool{}
	c.each(t, func(name string, own, platform bool) {
		for surface, path := range map[string]string{
			"login.html": "/login", "webhooks.html": "/docs/webhooks",
			"guide.html":     "/docs/guides/import",
			"reference.html": "/docs", "brand.json": "/white-label/brand?host=" + acmeHost,
			"openapi.json": "/openapi.json",
		} {
			got := c.stranger().do("GET", path, nil, "Host", acmeHost).want(t, 200, "")
			if named(got.Body) != platform {
				t.Errorf("%s, %s: the platform is named: %v", surface, name, !platform)
			}
			if strings.Contains(string(got.Body), "Acme") != own {
				t.Errorf("%s, %s: the brand is named: %v", surface, name, !own)
			}
			if got.Header.Get("Set-Cookie") != "" || got.Header.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s: %v", surface, got.Header)
			}
			if surface == "openapi.json" {
				continue // only its title differs
			}
			if surface == "login.html" { // the rest of it is the build's
				got.Body = bytes.Join(shellBrand.FindAll(got.Body, -1), []byte("\n"))
			}
			if surface == "webhooks.html" || surface == "guide.html" { // other tests cover their content
				got.Body = regexp.MustCompile(`(?s)<main>.*</main>`).ReplaceAll(got.Body, []byte("<main></main>"))
			}
			file := name + "." + surface
			if !seen[file] || !*update {
				golden(t, "brand/"+file, got.Body)
			}
			seen[file] = true
		}
	})
}

// TestTheEndOfAConnectionBearsTheBrandOfItsOrg tests the final page of a connection without a redirect_url.
func TestTheEndOfAConnectionBearsTheBrandOfItsOrg(t *testing.T) {
	t.Parallel()
	c := acme(t, resolver)
	b := c.browser(false)
	seen := map[string]bool{}
	c.each(t, func(name string, own, platform bool) {
		if name == "downgraded" {
			return // this org has no connections
		}
		for end, choice := range map[string]consent.Choice{"denied": {Deny: true}, "pending": {}} {
			got := b.open(b.consent(b.connect("social", "x", nil), choice)).want(t, 200, "")
			if named(got.Body) != platform || strings.Contains(string(got.Body), "Acme") != own {
				t.Errorf("%s, %s: %s", end, name, got.Body)
			}
			if p := got.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p,
				"default-src 'none'; style-src 'sha256-") || !strings.Contains(p, "form-action 'none'") {
				t.Errorf("policy %q", p)
			}
			file := name + ".oauth_" + end + ".html"
			if !seen[file] || !*update {
				golden(t, "brand/"+file, got.Body)
			}
			seen[file] = true
		}
	})
}

// TestThePageOfAnotherHostIsThePlatforms: the service's own names show the platform's page, unknown names show none.
func TestThePageOfAnotherHostIsThePlatforms(t *testing.T) {
	t.Parallel()
	c := acme(t)
	for _, host := range []string{"api.test", "www.api.test", "127.0.0.1"} {
		got := c.stranger().do("GET", "/login", nil, "Host", host).want(t, 200, "")
		if !bytes.Contains(got.Body, []byte("Funnelwork")) || bytes.Contains(got.Body, []byte("Acme")) {
			t.Errorf("%s shows %s", host, got.Body)
		}
	}
	for _, host := range []string{"other.test", "crm.acme.test.evil.test"} {
		c.stranger().do("GET", "/login", nil, "Host", host).want(t, 421, "misdirected_request")
		c.stranger().do("GET", "/docs/webhooks", nil, "Host", host).want(t, 421, "misdirected_request")
		for _, path := range []string{"/docs", "/openapi.json"} {
			if got := c.stranger().do("GET", path, nil, "Host", host).want(t, 200, ""); named(got.Body) ||
				bytes.Contains(got.Body, []byte("Acme")) {
				t.Errorf("%s%s names somebody", host, path)
			}
		}
	}
	for _, host := range []string{acmeHost, strings.ToUpper(acmeHost), acmeHost + ":8080", acmeHost + "."} {
		if got := c.stranger().do("GET", "/login", nil, "Host", host).
			want(t, 200, ""); !bytes.Contains(got.Body, []byte("Acme")) {
			t.Errorf("%s shows %s", host, got.Body)
		}
	}
	if got := c.stranger().do("GET", "/login", nil, "X-Forwarded-Host", acmeHost).
		want(t, 200, ""); bytes.Contains(got.Body, []byte("Acme")) {
		t.Error("anybody may say which host they came to")
	}
	for _, path := range []string{"/login", "/docs", "/docs/webhooks", "/openapi.json"} {
		c.stranger().do("GET", path+"?utm_source=mail&x=1", nil).want(t, 200, "")
	}
	c.stranger().do("POST", "/login", "{}").want(t, 405, "method_not_allowed")
}

func TestTheBrandOfAHostIsPublic(t *testing.T) {
	t.Parallel()
	c := acme(t)
	s := c.stranger()
	got := s.do("GET", "/white-label/brand?host="+strings.ToUpper(acmeHost)+":8443", nil).want(t, 200, "")
	if !bytes.Contains(got.Body, []byte(`"logo_url":"http://crm.acme.test/white-label/brand/logo/`)) {
		t.Errorf("%s", got.Body)
	}
	s.do("GET", "/white-label/brand?host="+acmeHost, nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
	if own := s.do("GET", "/white-label/brand?host=api.test", nil).
		want(t, 200, ""); !bytes.Contains(own.Body, []byte(`"brand_name":"Funnelwork"`)) {
		t.Errorf("%s", own.Body)
	}
	first := s.do("GET", "/white-label/brand?host=other.test", nil).want(t, 404, "not_found")
	second := s.do("GET", "/white-label/brand?host=a.b.c.test%3Ax", nil).want(t, 404, "not_found")
	if x, y := blank(first, "nothing"), blank(second, "nothing"); !bytes.Equal(x, y) {
		t.Errorf("%s\n%s", x, y)
	}
	s.do("GET", "/white-label/brand", nil).want(t, 400, "invalid_parameter")
	s.do("GET", "/white-label/brand?host=", nil).want(t, 400, "invalid_parameter")
}

// TestAPagesPolicyFitsThePage: the policy has the hashes of the page's style and script and allows nothing else.
func TestAPagesPolicyFitsThePage(t *testing.T) {
	t.Parallel()
	c := acme(t)
	for _, path := range []string{"/docs/webhooks", "/docs/guides/billing"} {
		for _, host := range []string{acmeHost, "api.test"} {
			got := c.stranger().do("GET", path, nil, "Host", host).want(t, 200, "")
			policy := got.Header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("%s: %s is missing from %q", path, part, policy)
				}
			}
			for tag, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
				found := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllSubmatch(got.Body, -1)
				if want := map[bool]int{true: 1, false: 0}[tag == "style"]; len(found) != want {
					t.Errorf("%s has %d of <%s>", path, len(found), tag)
				}
				for _, f := range found {
					sum := sha256.Sum256(f[1])
					if want := fmt.Sprintf("%s 'sha256-%s'", directive,
						base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, want) {
						t.Errorf("%s: %s is missing from %q", path, want, policy)
					}
				}
			}
			if bytes.Contains(got.Body, []byte("style=")) || bytes.Contains(got.Body, []byte("onclick")) {
				t.Errorf("%s has what its policy forbids", path)
			}
		}
	}
}

// TestABrandCannotBreakOutOfAPage: any value in the row is escaped as text, and colours are only colours.
func TestABrandCannotBreakOutOfAPage(t *testing.T) {
	t.Parallel()
	evil := `</style><script>alert(1)</script>"'><img src=x onerror=alert(1)>`
	shown := branding.Shown{
		Name: evil, SupportEmail: evil, Colors: branding.DefaultPalette,
		Logo: branding.LogoInfo{Digest: evil},
	}
	page, _, err := shown.Render(branding.Page{Title: evil})
	if err != nil {
		t.Error(err)
	}
	for _, tag := range []string{"<script", "<img src=x"} {
		if bytes.Contains(page, []byte(tag)) {
			t.Errorf("the page contains %s:\n%s", tag, page)
		}
	}
}

// TestAPageCostsNoQueryWhileItIsFresh: brands are cached for a second; changes by this process are visible immediately.
func TestAPageCostsNoQueryWhileItIsFresh(t *testing.T) {
	t.Parallel()
	c := acme(t)
	page := func() string {
		return string(c.stranger().do("GET", "/login", nil, "Host", acmeHost).want(t, 200, "").Body)
	}
	if !strings.Contains(page(), "Acme") {
		t.Fatal("not Acme")
	}
	c.do("PATCH", brandPath, `{"brand_name":"Zenith"}`).want(t, 200, "")
	if p := page(); !strings.Contains(p, "Zenith") || strings.Contains(p, "Acme") {
		t.Errorf("a change does not show at once: %s", p)
	}
	// written as another process would
	c.state(plans.State{Plan: "solo_pro", Interval: "month", Status: plans.Active, Quantity: 1})
	c.eventually(func() bool { return strings.Contains(page(), "Funnelwork") })
}

func TestTheRootLeadsBrowsersToTheConsole(t *testing.T) {
	t.Parallel()
	c := acme(t).stranger()
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for accept, want := range map[string]int{
		"text/html,application/xhtml+xml,*/*;q=0.8": 302, "application/json, Text/HTML ; q=0.1": 302,
		"": 404, "*/*": 404, "application/json": 404, "text/html;q=0": 404, "text/htmlx": 404,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		res, err := plain.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want || want == 302 && res.Header.Get("Location") != "/app/" {
			t.Errorf("Accept %q: %d %q, want %d", accept, res.StatusCode, res.Header.Get("Location"), want)
		}
	}
	c.do("GET", "/", nil).want(t, 404, "not_found")
	robots := c.do("GET", "/robots.txt", nil).want(t, 200, "")
	if string(robots.Body) != "User-agent: *\nAllow: /docs\nDisallow: /\n" {
		t.Errorf("robots.txt: %s", robots.Body)
	}
	own := c.do("GET", "/favicon.ico", nil).want(t, 200, "")
	theirs := c.do("GET", "/favicon.ico", nil, "Host", acmeHost).want(t, 200, "")
	if string(own.Body) == string(theirs.Body) || own.Header.Get("Content-Type") != "image/png" {
		t.Error("the icon is not the brand's")
	}
	c.do("GET", "/favicon.ico", nil, "Host", "unknown.test").want(t, 421, "")
}
