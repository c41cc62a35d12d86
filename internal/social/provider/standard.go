package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// standardExchange implements RFC 6749, section 4.1.3, with RFC 7636's verifier.
func standardExchange(ctx context.Context, p *Provider, c Code) (Token, error) {
	return p.tokenRequest(ctx, Exchanging, codeForm(p, c))
}

func codeForm(p *Provider, c Code) url.Values {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {c.Code.Reveal()}, "redirect_uri": {c.CallbackURL}}
	if p.PKCE != NoPKCE && c.Verifier != "" {
		form.Set("code_verifier", c.Verifier.Reveal())
	}
	return form
}

// standardRefresh implements RFC 6749, section 6.
func standardRefresh(ctx context.Context, p *Provider, t Token) (Token, error) {
	return p.tokenRequest(ctx, Renewing,
		url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh.Reveal()}})
}

// standardRevoke implements RFC 7009. It revokes the refresh token if there is one, which also revokes the access
// tokens.
func standardRevoke(ctx context.Context, p *Provider, t Token) error {
	form := url.Values{"token": {t.Access.Reveal()}, "token_type_hint": {"access_token"}}
	if t.Refresh != "" {
		form = url.Values{"token": {t.Refresh.Reveal()}, "token_type_hint": {"refresh_token"}}
	}
	_, err := p.send(ctx, p.asClient(ask{op: Revoking, method: http.MethodPost, address: p.RevokeURL, form: form}))
	return gone(err)
}

// gone returns nil if err means that the provider no longer knows the token, and otherwise err.
func gone(err error) error {
	if c := ClassOf(err); c == Dead || c == Stale {
		return nil
	}
	return err
}

// asClient adds the client's id and secret in the place that the provider requires.
func (p *Provider) asClient(a ask) ask {
	if p.Auth == InBasic {
		a.basic = true
		return a
	}
	a.form.Set(p.clientParam(), p.app.ClientID)
	a.form.Set("client_secret", p.app.ClientSecret.Reveal())
	return a
}

// tokenRequest posts form to the token endpoint and returns the token of the response.
func (p *Provider) tokenRequest(ctx context.Context, op Op, form url.Values) (Token, error) {
	return p.tokenOf(ctx, p.asClient(ask{op: op, method: http.MethodPost, address: p.TokenURL, form: form}))
}

// tokenOf sends a and returns the token of the response.
func (p *Provider) tokenOf(ctx context.Context, a ask) (Token, error) {
	issued := p.now()
	r, err := p.send(ctx, a)
	if err != nil {
		return Token{}, err
	}
	return p.granted(r, issued)
}

// grant is a token endpoint's response, in the spellings of all providers.
type grant struct {
	AccessToken  string  `json:"access_token"`
	RefreshToken string  `json:"refresh_token"`
	ExpiresIn    seconds `json:"expires_in"`
	// No RFC defines the refresh token's lifetime. The first spelling is LinkedIn's and Pinterest's, the second
	// TikTok's.
	RefreshTokenExpiresIn seconds `json:"refresh_token_expires_in"`
	RefreshExpiresIn      seconds `json:"refresh_expires_in"`
	Scope                 words   `json:"scope"`
}

// granted decodes the token of r.
func (p *Provider) granted(r Reply, issued time.Time) (Token, error) {
	var g grant
	if json.Unmarshal(r.Body, &g) != nil {
		return Token{}, p.unusable(r, "not_json")
	}
	return p.tokenFrom(g, r, issued)
}

func (p *Provider) tokenFrom(g grant, r Reply, issued time.Time) (Token, error) {
	if g.AccessToken == "" {
		return Token{}, p.unusable(r, "no_access_token")
	}
	t := Token{Access: Secret(g.AccessToken), Refresh: Secret(g.RefreshToken), IssuedAt: issued, Scopes: g.Scope}
	if len(t.Scopes) == 0 && r.Op == Exchanging {
		t.Scopes = slices.Clone(p.Scopes)
	}
	if g.ExpiresIn > 0 {
		t.ExpiresAt = after(issued, g.ExpiresIn.duration())
	} else if p.Lifetime > 0 {
		t.ExpiresAt, t.LifetimeAssumed = after(issued, p.Lifetime), true
	}
	switch stated := max(g.RefreshTokenExpiresIn, g.RefreshExpiresIn); {
	case t.Refresh == "":
	case stated > 0:
		t.RefreshExpiresAt = after(issued, stated.duration())
	case p.RefreshLifetime > 0:
		t.RefreshExpiresAt = after(issued, p.RefreshLifetime)
	}
	return t, nil
}

func after(t time.Time, d time.Duration) *time.Time {
	t = t.Add(d)
	return &t
}

// seconds is a number, which some providers send in quotes. Any other value, and a lifetime of more than a hundred
// years, counts as absent.
type seconds int64

func (s *seconds) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || n < 0 || n > 100*365*24*3600 {
		n = 0
	}
	*s = seconds(n)
	return nil
}

func (s seconds) duration() time.Duration { return time.Duration(s) * time.Second }

// words is a list, or one string with its elements separated by spaces or commas.
type words []string

func (w *words) UnmarshalJSON(raw []byte) error {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		*w = list
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*w = strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	}
	return nil
}
