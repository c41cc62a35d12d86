package provider

import (
	"context"
	"crypto/subtle"
	"net/url"
	"strings"

	"github.com/funnelwork/funnelwork/internal/oauth1"
)

// AsksFirst reports whether Begin makes a request to the provider.
func (p *Provider) AsksFirst() bool { return p.Dialect.Request != nil }

// Begin returns the secret that a flow keeps, sealed, until its callback: a PKCE verifier or, with OAuth 1.0a, the
// request token and its secret. With OAuth 1.0a it makes one request, and the error is an *Error; an unused request
// token expires. With either protocol, state comes back in the query of the callback.
func (p *Provider) Begin(ctx context.Context, state, callbackURL string) (Secret, error) {
	if !p.AsksFirst() {
		return NewVerifier(), nil
	}
	return p.Dialect.Request(ctx, p, callbackURL+"?"+url.Values{"state": {state}}.Encode())
}

// Matches reports whether the query of a callback belongs to the flow that kept verifier. With OAuth 1.0a the query
// must name the flow's request token; with OAuth 2.0 the state alone decides, and Matches returns true.
func (p *Provider) Matches(verifier Secret, query url.Values) bool {
	if !p.AsksFirst() {
		return true
	}
	named := query.Get("oauth_token")
	if denied := query.Get("denied"); denied != "" {
		named = denied
	}
	token, _ := credentials(verifier)
	return token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(named)) == 1
}

// Signed joins an OAuth 1.0a token and its secret in one Secret.
func Signed(token, secret string) Secret { return Secret(token + " " + secret) }

// credentials splits a Secret that Signed made.
func credentials(s Secret) (token, secret string) {
	token, secret, _ = strings.Cut(s.Reveal(), " ")
	return token, secret
}

// signedBy returns a with a signature by the application and, if token is not "", by the token's owner. The signature
// covers the provider's own address, even if App.Base redirects the request.
func (p *Provider) signedBy(token Secret, a ask, more ...oauth1.Param) ask {
	s := oauth1.Signer{Key: p.app.ClientID, Secret: p.app.ClientSecret.Reveal(), Now: p.now}
	s.Token, s.TokenSecret = credentials(token)
	a.signer, a.signed = &s, more
	return a
}

// tokenOfForm parses an OAuth 1.0a response, which is a form: the token with its secret, and the other parameters.
func (p *Provider) tokenOfForm(r Reply) (Secret, url.Values, error) {
	said, err := url.ParseQuery(strings.TrimSpace(string(r.Body)))
	if err != nil {
		return "", nil, p.unusable(r, "not_a_form")
	}
	token, secret := said.Get("oauth_token"), said.Get("oauth_token_secret")
	if token == "" || secret == "" || strings.ContainsAny(token+secret, " \t\r\n") {
		return "", nil, p.unusable(r, "no_access_token")
	}
	return Signed(token, secret), said, nil
}
