package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit/consent"
)

func TestAFlowOfOAuth1IsBoundToItsOwnRequestToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.get(t, "x_ads")
	mine, other := begin(t, p), begin(t, p)
	u, err := url.Parse(p.AuthorizeURL(state, mine, callback("x_ads")))
	if err != nil {
		t.Fatal(err)
	}
	token, secret, _ := strings.Cut(mine.Reveal(), " ")
	if u.RawQuery != "oauth_token="+token || !strings.HasSuffix(u.Path, "/api.x.com/oauth/authorize") {
		t.Errorf("authorize at %s", u)
	}
	if secret == "" || strings.Contains(u.String(), secret) {
		t.Errorf("%s shows the secret %q", u, secret)
	}
	for _, deny := range []bool{false, true} {
		verifier := begin(t, p)
		query, err := w.code(t, p, verifier, consent.Choice{Deny: deny})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			verifier provider.Secret
			want     bool
		}{"its": {verifier, true}, "another's": {other, false}, "no": {"", false}} {
			if got := p.Matches(c.verifier, query); got != c.want {
				t.Errorf("denied %v, %s verifier: %v, want %v: %v", deny, name, got, c.want, query)
			}
		}
	}
	if p.Matches(mine, nil) || p.Matches("", nil) {
		t.Error("a callback without a token matches")
	}
	if x := w.get(t, "x"); x.AsksFirst() || !x.Matches("verifier", nil) {
		t.Error("a flow of OAuth 2.0 is held to a request token")
	}
}

func TestAVerifierOfAnotherPersonsConsentIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.get(t, "x_ads")
	mine, theirs := begin(t, p), begin(t, p)
	query, err := w.code(t, p, theirs, consent.Choice{Person: "Grace Hopper"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := p.Returned(query)
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.Exchange(t.Context(), code, mine, callback("x_ads"))
	if provider.ClassOf(err) != provider.Dead || token.Access != "" {
		t.Errorf("another consent's verifier: %v", err)
	}
	token, err = p.Exchange(t.Context(), code, theirs, callback("x_ads"))
	if err != nil {
		t.Fatal(err)
	}
	if token.Subject == "" {
		t.Error("no subject")
	}
	if token.ExpiresAt != nil {
		t.Errorf("expires at %v, want never", token.ExpiresAt)
	}
	if token.Refresh != "" {
		t.Error("there is a refresh token")
	}
}

// TestOurOwnFaultsDisconnectNobody signs with the wrong secret, then with a wrong clock.
func TestOurOwnFaultsDisconnectNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(t, w.get(t, "x_ads"), consent.Choice{})
	apps := w.apps()
	wrong := apps["x_ads"]
	wrong.ClientSecret = "another"
	for name, o := range map[string]provider.Options{
		"a wrong secret": {Apps: map[string]provider.App{"x_ads": wrong}, Now: w.clock.now},
		"a slow clock":   {Apps: apps, Now: func() time.Time { return w.clock.now().Add(-6 * time.Minute) }},
		"a fast clock":   {Apps: apps, Now: func() time.Time { return w.clock.now().Add(6 * time.Minute) }},
	} {
		p, err := provider.New(o).Get("x_ads")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Begin(t.Context(), state, callback("x_ads"))
		if provider.ClassOf(err) != provider.Misconfigured {
			t.Errorf("%s: begin: %v", name, err)
		}
		if _, _, err = p.Login(t.Context(), token); provider.ClassOf(err) != provider.Misconfigured {
			t.Errorf("%s: login: %v", name, err)
		}
		if err = p.Revoke(t.Context(), token); provider.ClassOf(err) != provider.Misconfigured {
			t.Errorf("%s: revoke: %v", name, err)
		}
	}
	if g, err := w.Holder(t.Context(), raw(token)); err != nil || !g.Alive {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestARefusalThatMayBeTheTokensOrOursIsAskedAbout: the Ads API returns the same error for both.
func TestARefusalThatMayBeTheTokensOrOursIsAskedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		class  provider.Class
		code   string
	}{
		"the token lives":      {200, `{"id_str":"1"}`, ours, "UNAUTHORIZED_ACCESS"},
		"the token is gone":    {401, `{"errors":[{"code":89,"message":"Invalid or expired token."}]}`, dead, "89"},
		"the signature":        {401, `{"errors":[{"code":32,"message":"?"}]}`, ours, "UNAUTHORIZED_ACCESS"},
		"not in our plan":      {403, `{"errors":[{"code":453,"message":"?"}]}`, ours, "UNAUTHORIZED_ACCESS"},
		"nobody can say now":   {503, ``, later, "503"},
		"too often":            {429, ``, slow, "429"},
		"the person is locked": {403, `{"errors":[{"code":326,"message":"?"}]}`, dead, "326"},
	} {
		set := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/12/accounts") {
				w.WriteHeader(401)
				fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED_ACCESS","message":"?"}]}`)
				return
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		p, err := set.Get("x_ads")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = p.Login(t.Context(), provider.Token{Access: provider.Signed("token", "secret"), Subject: "1"})
		var e *provider.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, want an error of the provider", name, err)
		} else if e.Class != c.class || e.Code != c.code {
			t.Errorf("%s: class %s, code %s; want %s, %s", name, e.Class, e.Code, c.class, c.code)
		}
	}
}

// TestXGivesAPersonTheSameTokenAgain shows why a login of X Ads is revoked only if no other login uses its token.
func TestXGivesAPersonTheSameTokenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.get(t, "x_ads")
	one, two := w.token(t, p, consent.Choice{}), w.token(t, p, consent.Choice{})
	other := w.token(t, p, consent.Choice{Person: "Grace Hopper"})
	if one.Access != two.Access {
		t.Error("the second login has another token")
	}
	if one.Access == other.Access {
		t.Error("another person has the same token")
	}
	if !p.RevokesSiblings {
		t.Error("the provider does not revoke siblings")
	}
	if err := p.Revoke(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if fresh := w.token(t, p, consent.Choice{}); fresh.Access == one.Access {
		t.Error("a revoked token was given again")
	}
}
