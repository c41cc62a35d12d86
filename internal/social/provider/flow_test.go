package provider_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

// world is a sandbox behind a real listener, and the providers that use it.
type world struct {
	*oauth.Sandbox
	set   *provider.Set
	base  string
	clock *clock
}

// clock is the real time plus the test's advances; the sandbox and the providers share it.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(by time.Duration) { c.ahead.Add(int64(by)) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: &clock{}}
	w.Sandbox = oauth.New(oauth.Options{Now: w.clock.now})
	srv := httptest.NewServer(w.Handler())
	t.Cleanup(srv.Close)
	w.base = srv.URL + strings.TrimSuffix(oauth.Path, "/")
	w.set = provider.New(provider.Options{Apps: w.apps(), Now: w.clock.now})
	return w
}

func (w *world) apps() map[string]provider.App {
	apps := map[string]provider.App{}
	for _, family := range provider.Families() {
		id, secret := oauth.Client(family)
		apps[family] = provider.App{
			ClientID: id, ClientSecret: provider.Secret(secret), DeveloperToken: "developer",
			Base: w.base,
		}
	}
	return apps
}

func (w *world) get(t *testing.T, platform string) *provider.Provider {
	t.Helper()
	p, err := w.set.Get(platform)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// state is the state parameter of the tests, of at least 128 bits.
const state = "state-0123456789abcdefghijklmnop"

func callback(platform string) string {
	return "https://crm.example.com/oauth/" + platform + "/callback"
}

// code goes through consent and returns the callback's query.
func (w *world) code(t *testing.T, p *provider.Provider, verifier provider.Secret,
	c consent.Choice,
) (url.Values, error) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := consent.Give(t.Context(), &http.Client{Jar: jar},
		p.AuthorizeURL(state, verifier, callback(p.Platform)), c)
	if err != nil {
		return nil, err
	}
	if got, want := strings.Split(back.String(), "?")[0], callback(p.Platform); got != want {
		t.Errorf("sent back to %s, want %s", got, want)
	}
	if back.Query().Get("state") != state {
		t.Errorf("the state came back as %q", back.Query().Get("state"))
	}
	return back.Query(), nil
}

// begin returns the secret that a flow keeps until its callback.
func begin(t *testing.T, p *provider.Provider) provider.Secret {
	t.Helper()
	verifier, err := p.Begin(t.Context(), state, callback(p.Platform))
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

// raw returns an access token in the provider's form.
func raw(t provider.Token) string {
	token, _, _ := strings.Cut(t.Access.Reveal(), " ")
	return token
}

// token runs a whole flow and returns its token.
func (w *world) token(t *testing.T, p *provider.Provider, c consent.Choice) provider.Token {
	t.Helper()
	verifier := begin(t, p)
	query, err := w.code(t, p, verifier, c)
	if err != nil {
		t.Fatal(err)
	}
	code, err := p.Returned(query)
	if err != nil || !p.Matches(verifier, query) {
		t.Fatal(err)
	}
	token, err := p.Exchange(t.Context(), code, verifier, callback(p.Platform))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// want is the expected result of each platform's flow.
var want = map[string]struct {
	accounts      int
	lifetime      time.Duration
	refreshToken  bool
	pageTokens    bool
	revokes       bool
	prefix, title string // of the first account
}{
	"facebook":      {3, 5183944 * time.Second, false, true, true, "", "Ada's page 1"},
	"instagram":     {1, 5183944 * time.Second, false, false, false, "", "Ada Lovelace"},
	"linkedin":      {1, 60 * 24 * time.Hour, true, false, true, "", "Ada Lovelace"},
	"linkedin_page": {3, 60 * 24 * time.Hour, true, false, true, "", "Ada's company 1"},
	"x":             {1, 2 * time.Hour, true, false, true, "", "Ada Lovelace"},
	"tiktok":        {1, 2 * time.Hour, true, false, true, "-000", "Ada Lovelace"},
	"youtube":       {1, 3599 * time.Second, true, false, true, "UC", "Ada's channel 1"},
	"pinterest":     {1, 30 * 24 * time.Hour, true, false, false, "", "Ada Lovelace"},
	"gmail":         {1, 3599 * time.Second, true, false, true, "", "adalovelace@gmail.sandbox.example"},
	"outlook":       {1, 3599 * time.Second, true, false, false, "", "adalovelace@outlook.sandbox.example"},
	"meta_ads":      {3, 5183944 * time.Second, false, false, true, "act_", "Ada's ad account 1"},
	"linkedin_ads":  {3, 60 * 24 * time.Hour, true, false, true, "", "Ada's ad account 1"},
	"tiktok_ads":    {3, 0, false, false, true, "", "Ada's advertiser 1"},
	"google_ads":    {3, 3599 * time.Second, true, false, true, "", "Ada's ads customer 1"},
	"pinterest_ads": {3, 30 * 24 * time.Hour, true, false, false, "", "Ada's ad account 1"},
	"x_ads":         {3, 0, false, false, true, "18ce5", "Ada's ad account 1"},
}

func TestTheWholeFlowOfEveryPlatform(t *testing.T) {
	t.Parallel()
	for _, spec := range provider.Catalogue() {
		t.Run(spec.Platform, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, want := w.get(t, spec.Platform), want[spec.Platform]
			before := time.Now()
			token := w.token(t, p, consent.Choice{})
			if token.Lifetime() != want.lifetime || token.LifetimeAssumed ||
				(token.Refresh != "") != want.refreshToken {
				t.Errorf("lifetime %v (assumed %v), refresh token %v; want %+v", token.Lifetime(),
					token.LifetimeAssumed, token.Refresh != "", want)
			}
			if token.IssuedAt.Before(before) || token.IssuedAt.After(time.Now()) {
				t.Errorf("issued at %v, want %v to now", token.IssuedAt, before)
			}
			if len(token.Scopes) == 0 && spec.Renewal != provider.NoRenewal {
				t.Error("no scopes")
			}

			who, accounts, err := p.Login(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			named := who.Name == "Ada Lovelace" || spec.Platform == "x_ads" // X Ads returns no name
			if who.Subject == "" || !named {
				t.Fatalf("login %+v, want a subject and the name", who)
			}
			if len(accounts) != want.accounts || who.Cut {
				t.Fatalf("%d accounts, cut %v; want %d, whole", len(accounts), who.Cut, want.accounts)
			}
			ids := map[string]bool{}
			for _, a := range accounts {
				ids[a.ExternalID] = true
				if !strings.HasPrefix(a.ExternalID, want.prefix) || a.DisplayName == "" {
					t.Errorf("account %q named %q, want the prefix %q and a name", a.ExternalID, a.DisplayName,
						want.prefix)
				}
				if has := a.Token != ""; has != want.pageTokens {
					t.Errorf("account %q has a token: %v, want %v", a.ExternalID, has, want.pageTokens)
				}
			}
			if len(ids) != want.accounts || accounts[0].DisplayName != want.title {
				t.Errorf("accounts %+v", accounts)
			}

			if p.CanRefresh(token) {
				w.clock.advance(min(25*time.Hour, want.lifetime/2)) // older than MinAge, but not expired
				fresh, err := p.Refresh(t.Context(), token)
				if err != nil {
					t.Fatal(err)
				}
				if fresh.Access == token.Access || !fresh.ExpiresAt.After(*token.ExpiresAt) {
					t.Errorf("refreshed: another access token %v, expires at %v after %v",
						fresh.Access != token.Access, fresh.ExpiresAt, token.ExpiresAt)
				}
				if want.refreshToken && fresh.Refresh == "" {
					t.Error("refreshed without a refresh token")
				}
				if rotated := fresh.Refresh != token.Refresh; rotated != p.Rotates {
					t.Errorf("another refresh token: %v, want %v", rotated, p.Rotates)
				}
				g, err := w.Holder(t.Context(), fresh.Access.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				if g.Refreshes != 1 || g.Requests != 1 {
					t.Errorf("%d refreshes in %d requests, want 1 in 1", g.Refreshes, g.Requests)
				}
				if g.Access != fresh.Access.Reveal() {
					t.Error("the provider has another access token")
				}
				if g.Refresh != fresh.Refresh.Reveal() {
					t.Error("the provider has another refresh token")
				}
				token = fresh
			} else if spec.Renewal != provider.NoRenewal {
				t.Error("it cannot be refreshed")
			} else if _, err := p.Refresh(t.Context(), token); !errors.Is(err, provider.ErrNoRefresh) {
				t.Error(err)
			}

			err = p.Revoke(t.Context(), token)
			if !want.revokes {
				if !errors.Is(err, provider.ErrNoRevoke) || p.Revocable() {
					t.Errorf("revoke: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g, err := w.Holder(t.Context(), raw(token)); err != nil || g.Alive {
				t.Errorf("it lives on: %+v, %v", g, err)
			}
			if err := p.Revoke(t.Context(), token); err != nil {
				t.Errorf("a second time: %v", err)
			}
			if _, _, err := p.Login(t.Context(), token); provider.ClassOf(err) != provider.Dead &&
				provider.ClassOf(err) != provider.Stale {
				t.Errorf("a revoked token logs in: %v", err)
			}
			if p.CanRefresh(token) {
				if _, err := p.Refresh(t.Context(), token); provider.ClassOf(err) != provider.Dead {
					t.Errorf("a revoked token is refreshed: %v", err)
				}
			}
		})
	}
}

func TestTheAuthorizeURLIsTheProvidersOwn(t *testing.T) {
	t.Parallel()
	apps := map[string]provider.App{}
	for _, f := range provider.Families() {
		apps[f] = provider.App{ClientID: "our-id", ClientSecret: "our-secret"}
	}
	for _, p := range provider.New(provider.Options{Apps: apps}).All() {
		if p.AsksFirst() { // the query names only the request token
			continue
		}
		u, err := url.Parse(p.AuthorizeURL(state, "verifier-of-at-least-43-characters-0123456789abc",
			callback(p.Platform)))
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if u.Scheme != "https" || !strings.HasPrefix(p.AuthURL, "https://"+u.Host+u.Path) {
			t.Errorf("%s: %s", p.Platform, u)
		}
		client := map[string]string{"tiktok": "client_key", "tiktok_ads": "app_id"}[p.Platform]
		if client == "" {
			client = "client_id"
		}
		for name, want := range map[string]string{
			client: "our-id", "state": state, "redirect_uri": callback(p.Platform),
		} {
			if got := q.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", p.Platform, name, got, want)
			}
		}
		if client != "client_id" && q.Has("client_id") {
			t.Errorf("%s: client_id %q, want none", p.Platform, q.Get("client_id"))
		}
		if strings.Contains(u.String(), "our-secret") {
			t.Errorf("%s: the address has our secret: %v", p.Platform, q)
		}
		challenge := map[provider.Challenge]int{provider.NoPKCE: 0, provider.S256: 43, provider.S256Hex: 64}[p.PKCE]
		if got := len(q.Get("code_challenge")); got != challenge {
			t.Errorf("%s: challenge of %d characters, want %d", p.Platform, got, challenge)
		}
		if method := q.Get("code_challenge_method"); (challenge > 0) != (method == "S256") {
			t.Errorf("%s: challenge method %q with a challenge of %d characters", p.Platform, method, challenge)
		}
		if strings.Contains(u.String(), "verifier-of") {
			t.Errorf("%s: the address has the verifier: %v", p.Platform, q)
		}
	}
}

func TestAVerifierOfAnotherFlowIsRefused(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"x", "tiktok", "youtube", "facebook"} {
		w := newWorld(t)
		p := w.get(t, platform)
		query, err := w.code(t, p, provider.NewVerifier(), consent.Choice{})
		if err != nil {
			t.Fatal(err)
		}
		code, err := p.Returned(query)
		if err != nil {
			t.Fatal(err)
		}
		if token, err := p.Exchange(t.Context(), code, provider.NewVerifier(), callback(platform)); err == nil ||
			token.Access != "" {
			t.Errorf("%s took another flow's verifier", platform)
		}
		if _, err := w.code(t, p, "", consent.Choice{}); platform == "x" && err == nil {
			t.Error("x went without a challenge")
		}
	}
}

func TestACodeIsGoodForOneUseAndItsOwnRedirect(t *testing.T) {
	t.Parallel()
	for _, spec := range provider.Catalogue() {
		w := newWorld(t)
		p := w.get(t, spec.Platform)
		again := func(redirect string) error {
			verifier := begin(t, p)
			query, err := w.code(t, p, verifier, consent.Choice{})
			if err != nil {
				t.Fatal(err)
			}
			code, err := p.Returned(query)
			if err != nil {
				t.Fatal(err)
			}
			if redirect != "" {
				_, err = p.Exchange(t.Context(), code, verifier, redirect)
				return err
			}
			if _, err = p.Exchange(t.Context(), code, verifier, callback(p.Platform)); err != nil {
				t.Fatal(err)
			}
			_, err = p.Exchange(t.Context(), code, verifier, callback(p.Platform))
			return err
		}
		if c := provider.ClassOf(again("")); c != provider.Dead {
			t.Errorf("%s: a spent code is %q", p.Platform, c)
		}
		if spec.Platform == "tiktok_ads" || spec.Platform == "x_ads" { // these send no redirect URI
			continue
		}
		if err := again("https://elsewhere.example.com/callback"); err == nil {
			t.Errorf("%s: took another redirect", p.Platform)
		}
	}
}

func TestWhoDoesNotConsentIsNotTakenForAnError(t *testing.T) {
	t.Parallel()
	for _, spec := range provider.Catalogue() {
		w := newWorld(t)
		p := w.get(t, spec.Platform)
		query, err := w.code(t, p, begin(t, p), consent.Choice{Deny: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Returned(query); !errors.Is(err, provider.ErrDenied) {
			t.Errorf("%s: %v of %v", p.Platform, err, query)
		}
	}
}

func TestAWrongSecretDisconnectsNobody(t *testing.T) {
	t.Parallel()
	for _, spec := range provider.Catalogue() {
		w := newWorld(t)
		token := w.token(t, w.get(t, spec.Platform), consent.Choice{})
		apps := w.apps()
		family := w.get(t, spec.Platform).Family // of the application in use
		app := apps[family]
		app.ClientSecret = "another"
		apps[family] = app
		p, err := provider.New(provider.Options{Apps: apps, Now: w.clock.now}).Get(spec.Platform)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Exchange(t.Context(), "code", begin(t, w.get(t, spec.Platform)), callback(p.Platform))
		if provider.ClassOf(err) != provider.Misconfigured {
			t.Errorf("%s: exchange: %v", p.Platform, err)
		}
		if !p.CanRefresh(token) || spec.Platform == "instagram" { // Instagram's renewal sends no secret
			continue
		}
		if _, err := p.Refresh(t.Context(), token); provider.ClassOf(err) != provider.Misconfigured {
			t.Errorf("%s: refresh: %v", p.Platform, err)
		}
	}
}

func TestAListIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for platform, many := range map[string]int{
		"facebook": 1234, "meta_ads": 250, "linkedin_page": 230, "linkedin_ads": 1100, "pinterest_ads": 600,
		"google_ads": 40, "tiktok_ads": 5, "x_ads": 2345,
	} {
		w := newWorld(t)
		p := w.get(t, platform)
		if err := w.Set(t.Context(), p.Family, oauth.Knobs{Accounts: many}); err != nil {
			t.Fatal(err)
		}
		token := w.token(t, p, consent.Choice{Person: "Somebody Else"})
		who, accounts, err := p.Login(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, a := range accounts {
			ids[a.ExternalID] = true
		}
		if wanted := min(many, provider.MaxAccounts); len(accounts) != wanted || len(ids) != wanted ||
			who.Cut != (many > provider.MaxAccounts) {
			t.Errorf("%s: %d accounts, %d ids, cut %v; there are %d", platform, len(accounts), len(ids), who.Cut, many)
		}
	}
}

func TestOnlyWhatWasTickedIsReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.get(t, "facebook")
	_, all, err := p.Login(t.Context(), w.token(t, p, consent.Choice{}))
	if err != nil {
		t.Fatal(err)
	}
	_, some, err := p.Login(t.Context(), w.token(t, p, consent.Choice{Accounts: []string{all[1].ExternalID}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(some) != 1 || some[0].ExternalID != all[1].ExternalID {
		t.Errorf("accounts %+v, want %s alone", some, all[1].ExternalID)
	}
	_, none, err := p.Login(t.Context(), w.token(t, p, consent.Choice{Accounts: []string{}}))
	if err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
