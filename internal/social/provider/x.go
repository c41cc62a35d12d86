package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// x returns the spec of X (formerly Twitter). Its refresh tokens are valid for a single use; using one twice
// invalidates all tokens of the login.
func x() Spec {
	return Spec{
		Platform: "x", Name: "X", Kind: Social, Family: "x",
		AuthURL: "https://x.com/i/oauth2/authorize", TokenURL: "https://api.x.com/2/oauth2/token",
		RevokeURL: "https://api.x.com/2/oauth2/revoke",
		Scopes:    []string{"users.read", "tweet.read", "tweet.write", "media.write", "offline.access"},
		Needed:    []string{"users.read", "tweet.write", "offline.access"},
		Auth:      InBasic, PKCE: S256,
		Renewal: ByRefreshToken, Lifetime: 2 * time.Hour, Rotates: true,
		Rate: 10, Burst: 10,
		Dialect: Dialect{Login: xLogin, Judge: xJudge},
	}
}

func xLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	var me struct {
		Data struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			Handle string `json:"username"`
			Avatar string `json:"profile_image_url"`
		} `json:"data"`
	}
	err := p.Get(ctx, t, "https://api.x.com/2/users/me", url.Values{"user.fields": {"profile_image_url"}}, nil, &me)
	if err != nil {
		return Login{}, nil, err
	}
	d := me.Data
	return p.one(Account{ExternalID: d.ID, DisplayName: named(d.Name, "@"+d.Handle), AvatarURL: d.Avatar})
}

// xJudge classifies X's errors: a spent or unknown token is an invalid_request, as is a request that is really
// malformed.
func xJudge(r Reply) (Class, string) {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Reason      string `json:"reason"`
		Errors      []struct {
			Code int `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return "", ""
	}
	switch {
	case said.Error == "invalid_request" &&
		has(said.Description, "value passed for the token", "value passed for the authorization code"):
		return Dead, said.Error
	case said.Reason == "client-not-enrolled", said.Reason == "unsupported-authentication":
		return Misconfigured, said.Reason
	}
	if r.Status < 300 || len(said.Errors) == 0 || said.Errors[0].Code == 0 {
		return "", ""
	}
	c := said.Errors[0].Code
	name := strconv.Itoa(c)
	switch c {
	case 89: // invalid or expired token
		return Stale, name
	case 64, 326: // the user is suspended, or locked until they log in
		return Dead, name
	case 88, 185:
		return Throttled, name
	case 130, 131:
		return Transient, name
	case 32, 99, 215, 220, 416, 453: // our credentials or our application
		return Misconfigured, name
	}
	if r.Status == http.StatusTooManyRequests {
		return Throttled, name
	}
	return "", ""
}
