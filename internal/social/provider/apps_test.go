package provider_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

func TestPagesAndAdsOfLinkedInHaveApplicationsOfTheirOwnOrTheProfiles(t *testing.T) {
	t.Parallel()
	profile, page := provider.App{ClientID: "profile", ClientSecret: "1"},
		provider.App{ClientID: "page", ClientSecret: "2"}
	before := provider.New(provider.Options{Apps: map[string]provider.App{"linkedin": profile}})
	after := provider.New(provider.Options{Apps: map[string]provider.App{"linkedin": profile, "linkedin_page": page}})
	alone := provider.New(provider.Options{Apps: map[string]provider.App{"linkedin_page": page}})
	for name, tc := range map[string]struct {
		set              *provider.Set
		platform, client string // "": whichever connects
		want, family     string
	}{
		"pages without one":                    {before, "linkedin_page", "", "profile", "linkedin"},
		"ads without one":                      {before, "linkedin_ads", "", "profile", "linkedin"},
		"pages with one":                       {after, "linkedin_page", "", "page", "linkedin_page"},
		"ads beside pages with one":            {after, "linkedin_ads", "", "profile", "linkedin"},
		"the profile":                          {after, "linkedin", "", "profile", "linkedin"},
		"logins from before are still renewed": {after, "linkedin_page", "profile", "profile", "linkedin"},
		"new ones are, too":                    {after, "linkedin_page", "page", "page", "linkedin_page"},
		"with the application gone":            {alone, "linkedin_page", "profile", "", ""},
		"the profile has not the pages'":       {after, "linkedin", "page", "", ""},
	} {
		get := func() (*provider.Provider, error) {
			if tc.client == "" {
				return tc.set.Get(tc.platform)
			}
			return tc.set.Of(tc.platform, tc.client)
		}
		p, err := get()
		switch {
		case tc.want == "" && !errors.Is(err, provider.ErrUnconfigured):
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (err != nil || p.ClientID() != tc.want || p.Family != tc.family):
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if slices.Contains(provider.Families(), "linkedin_page") || !slices.Contains(provider.Families(), "linkedin") {
		t.Errorf("families: %v", provider.Families())
	}
}

func TestAConfigurationOfLoginForBusinessIsAskedForInThePlaceOfScopes(t *testing.T) {
	t.Parallel()
	set := provider.New(provider.Options{Apps: map[string]provider.App{"facebook": {
		ClientID: "1", ClientSecret: "2",
		Configs: map[string]string{"facebook": "4711"},
	}}})
	for platform, want := range map[string]string{"facebook": "4711", "meta_ads": ""} {
		p, err := set.Get(platform)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(p.AuthorizeURL("state", provider.NewVerifier(),
			"https://crm.example.com/oauth/facebook/callback"))
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if q.Get("config_id") != want || q.Has("scope") == (want != "") {
			t.Errorf("%s: %s", platform, u)
		}
	}
}

// tokenOf returns the token of a sandbox login.
func tokenOf(g oauth.Grant) provider.Token {
	if g.Secret != "" {
		return provider.Token{Access: provider.Signed(g.Access, g.Secret), Subject: g.Subject}
	}
	return provider.Token{Access: provider.Secret(g.Access)}
}

// paths records the requested paths.
type paths struct {
	http.RoundTripper
	mu  sync.Mutex
	all []string
}

func (p *paths) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.all = append(p.all, r.URL.Path+" "+r.Header.Get("Linkedin-Version"))
	p.mu.Unlock()
	return p.RoundTripper.RoundTrip(r)
}

func TestVersionsOfAPIsAreThoseThatAreSetElseTheTestedOnes(t *testing.T) {
	t.Parallel()
	box := oauth.New(oauth.Options{})
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		box.Close()
	})
	for platform, tc := range map[string]struct{ family, version, tested, set string }{
		"facebook":      {"facebook", "v99.0", "/v25.0/me/accounts ", "/v99.0/me/accounts "},
		"instagram":     {"instagram", "v99.0", "/v25.0/me ", "/v99.0/me "},
		"linkedin_page": {"linkedin", "209912", "/rest/organizationAcls 202607", "/rest/organizationAcls 209912"},
		"linkedin_ads":  {"linkedin", "209912", "/rest/adAccounts 202607", "/rest/adAccounts 209912"},
		"google_ads": {
			"google", "v99", "/v25/customers:listAccessibleCustomers ",
			"/v99/customers:listAccessibleCustomers ",
		},
		"youtube": {"google", "v99", "/youtube/v3/channels ", "/youtube/v3/channels "},
		"x_ads":   {"x_ads", "99", "/12/accounts ", "/99/accounts "},
	} {
		for version, want := range map[string]string{"": tc.tested, tc.version: tc.set} {
			client, secret := oauth.Client(tc.family)
			saw := &paths{RoundTripper: http.DefaultTransport}
			set := provider.New(provider.Options{Apps: map[string]provider.App{tc.family: {
				ClientID: client, ClientSecret: provider.Secret(secret), DeveloperToken: "sandbox",
				Base: server.URL + oauth.Path, Version: version, HTTP: &http.Client{Transport: saw},
			}}})
			p, err := set.Get(platform)
			if err != nil {
				t.Fatal(err)
			}
			g, err := box.Issue(t.Context(), tc.family, "Ada Lovelace", p.Scopes...)
			if err != nil {
				t.Fatal(err)
			}
			if _, accounts, err := p.Login(t.Context(), tokenOf(g)); err != nil || len(accounts) == 0 {
				t.Errorf("%s %q: %d accounts, %v", platform, version, len(accounts), err)
			}
			if !slices.ContainsFunc(saw.all, func(path string) bool { return strings.HasSuffix(path, want) }) {
				t.Errorf("%s %q: asked %v, want one that ends in %s", platform, version, saw.all, want)
			}
		}
	}
}

func TestAPlatformIsKnownOrNotAndSaysWhy(t *testing.T) {
	t.Parallel()
	set := provider.New(provider.Options{Apps: map[string]provider.App{"x": {ClientID: "id"}}})
	for platform, want := range map[string]error{
		"x": nil, "facebook": provider.ErrUnconfigured, "x_ads": provider.ErrUnconfigured,
		"myspace": provider.ErrUnknownPlatform, "": provider.ErrUnknownPlatform,
	} {
		if _, err := set.Get(platform); !errors.Is(err, want) {
			t.Errorf("%s: %v", platform, err)
		}
	}
	if all := set.All(); len(all) != 1 || all[0].Platform != "x" {
		t.Errorf("%v", all)
	}
	wanted := []string{
		"facebook", "instagram", "linkedin", "linkedin_page", "x", "tiktok", "youtube", "pinterest",
		"gmail", "outlook", "meta_ads", "linkedin_ads", "tiktok_ads", "google_ads", "pinterest_ads", "x_ads",
	}
	var got []string
	for _, s := range provider.Catalogue() {
		got = append(got, s.Platform)
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("catalogue %v", got)
	}
	ours, theirs := provider.Families(), oauth.Families()
	slices.Sort(ours)
	slices.Sort(theirs)
	if !slices.Equal(ours, theirs) {
		t.Errorf("families %v, the sandbox has %v", ours, theirs)
	}
}
