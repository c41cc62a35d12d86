// Package oidc tests the standard part of internal/social/provider against a third-party provider: the example server
// of zitadel/oidc, which is certified by the OpenID Foundation. It is a separate module, so that that server's
// dependencies are not in our go.mod.
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/funnelwork/funnelwork/internal/social/provider"
)

const (
	callback = "https://crm.example.com/oauth/foreign/callback"
	state    = "state-0123456789abcdefghijklmnop"
)

// foreign starts the server and returns a provider for it: a Spec, as for any further network.
func foreign(t *testing.T, secret provider.Secret) *provider.Provider {
	t.Helper()
	var op http.Handler
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { op.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	op = exampleop.SetupServer(srv.URL, storage.NewStorage(storage.NewUserStore(srv.URL)),
		slog.New(slog.DiscardHandler), false)

	var says struct {
		Auth     string `json:"authorization_endpoint"`
		Token    string `json:"token_endpoint"`
		Userinfo string `json:"userinfo_endpoint"`
		Revoke   string `json:"revocation_endpoint"`
	}
	res, err := http.Get(srv.URL + "/.well-known/openid-configuration")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&says); err != nil {
		t.Fatal(err)
	}
	spec := provider.Spec{
		Platform: "foreign", Name: "Foreign", Kind: provider.Social, Family: "foreign",
		AuthURL: says.Auth, TokenURL: says.Token, RevokeURL: says.Revoke,
		Scopes: []string{"openid", "profile", "offline_access"}, Auth: provider.InBasic, PKCE: provider.S256,
		Renewal: provider.ByRefreshToken, Rotates: true,
		Dialect: provider.Dialect{Login: login(says.Userinfo)},
	}
	set := provider.New(provider.Options{
		More: []provider.Spec{spec},
		Apps: map[string]provider.App{"foreign": {ClientID: "crm", ClientSecret: secret}},
	})
	p, err := set.Get("foreign")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// login returns a Dialect.Login for an OpenID Connect provider where the person is the account.
func login(userinfo string) func(context.Context, *provider.Provider, provider.Token) (provider.Login,
	[]provider.Account, error) {
	return func(ctx context.Context, p *provider.Provider, t provider.Token) (provider.Login,
		[]provider.Account, error,
	) {
		var me struct {
			Subject string `json:"sub"`
			Name    string `json:"name"`
		}
		if err := p.Get(ctx, t, userinfo, nil, nil, &me); err != nil {
			return provider.Login{}, nil, err
		}
		return provider.Login{Subject: me.Subject, Name: me.Name},
			[]provider.Account{{ExternalID: me.Subject, DisplayName: me.Name}}, nil
	}
}

// The example server keeps its clients in a variable.
func TestMain(m *testing.M) {
	storage.RegisterClients(storage.WebClient("crm", "secret", callback))
	m.Run()
}

var hidden = regexp.MustCompile(`name="id" value="([^"]*)"`)

// consent logs a user in as a browser does, and returns the query of the callback.
func consent(t *testing.T, p *provider.Provider, verifier provider.Secret) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back *url.URL
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), callback) {
			back = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page, err := browser.Get(p.AuthorizeURL(state, verifier, callback))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Body.Close() }()
	raw, err := io.ReadAll(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	id := hidden.FindSubmatch(raw)
	if id == nil {
		t.Fatalf("no form in %s", raw)
	}
	to, err := page.Request.URL.Parse("/login/username")
	if err != nil {
		t.Fatal(err)
	}
	done, err := browser.PostForm(to.String(),
		url.Values{"id": {string(id[1])}, "username": {"test-user2"}, "password": {"verysecure"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = done.Body.Close()
	if back == nil {
		t.Fatalf("not sent back: %s", done.Status)
	}
	if back.Query().Get("state") != state {
		t.Errorf("the state came back as %q", back.Query().Get("state"))
	}
	return back.Query()
}

// token runs the whole flow.
func token(t *testing.T, p *provider.Provider) provider.Token {
	t.Helper()
	verifier := provider.NewVerifier()
	code, err := p.Returned(consent(t, p, verifier))
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Exchange(t.Context(), code, verifier, callback)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheWholeFlowWithAForeignProvider(t *testing.T) {
	t.Parallel()
	p := foreign(t, "secret")
	first := token(t, p)
	if first.Access == "" || first.Refresh == "" {
		t.Errorf("access and refresh token: %v, want both", first)
	}
	if first.LifetimeAssumed || first.Lifetime() < time.Minute {
		t.Errorf("lifetime %v, assumed %v; want a stated one", first.Lifetime(), first.LifetimeAssumed)
	}
	who, accounts, err := p.Login(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if who.Subject != "id2" || len(accounts) != 1 {
		t.Fatalf("subject %s, accounts %+v; want id2, one", who.Subject, accounts)
	}
	if name := accounts[0].DisplayName; name != "Test User2" {
		t.Fatalf("the account's name is %q, want Test User2", name)
	}
	second, err := p.Refresh(t.Context(), first)
	if err != nil {
		t.Fatalf("refresh: %v", err)
	}
	if second.Refresh == "" || second.Refresh == first.Refresh {
		t.Fatal("refresh: no new refresh token")
	}
	if second.Access == first.Access {
		t.Fatal("refresh: no new access token")
	}
	if _, err := p.Refresh(t.Context(), first); provider.ClassOf(err) != provider.Dead {
		t.Errorf("a spent refresh token: %v", err)
	}
	if _, _, err := p.Login(t.Context(), second); err != nil {
		t.Errorf("the successor: %v", err)
	}
	if err := p.Revoke(t.Context(), second); err != nil {
		t.Errorf("revoke: %v", err)
	}
	if _, err := p.Refresh(t.Context(), second); provider.ClassOf(err) != provider.Dead {
		t.Errorf("a revoked refresh token: %v", err)
	}
	if _, _, err := p.Login(t.Context(), second); provider.ClassOf(err) != provider.Stale &&
		provider.ClassOf(err) != provider.Dead {
		t.Errorf("a revoked access token: %v", err)
	}
}

func TestAForeignProviderRefusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	p := foreign(t, "secret")
	exchange := func(p *provider.Provider, to string, verifiers ...provider.Secret) error {
		t.Helper()
		code, err := p.Returned(consent(t, p, verifiers[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verifiers[1:] {
			_, err = p.Exchange(t.Context(), code, v, to)
		}
		return err
	}
	verifier := provider.NewVerifier()
	if err := exchange(p, callback, verifier, provider.NewVerifier()); err == nil {
		t.Error("it took another flow's verifier")
	}
	if err := exchange(p, callback+"/elsewhere", verifier, verifier); err == nil {
		t.Error("it took another redirect")
	}
	if err := exchange(p, callback, verifier, verifier, verifier); provider.ClassOf(err) != provider.Dead {
		t.Errorf("a spent code: %v", err)
	}
	if err := exchange(foreign(t, "another"), callback, verifier,
		verifier); provider.ClassOf(err) != provider.Misconfigured {
		t.Errorf("another secret: %v", err)
	}
}

func TestOfTwentyWhoRefreshAtOnceAForeignProviderServesOne(t *testing.T) {
	t.Parallel()
	p := foreign(t, "secret")
	first := token(t, p)
	var all sync.WaitGroup
	errs := make(chan error, 20)
	for range cap(errs) {
		all.Go(func() {
			_, err := p.Refresh(t.Context(), first)
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	served, refused := 0, []error{}
	for err := range errs {
		switch {
		case err == nil:
			served++
		case provider.ClassOf(err) == provider.Dead:
			refused = append(refused, err)
		default:
			t.Error(err)
		}
	}
	if served != 1 || len(refused) != 19 {
		t.Errorf("%d served, %v", served, fmt.Sprint(errors.Join(refused...)))
	}
}
