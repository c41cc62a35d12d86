package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

const tiktokAPI = "https://open.tiktokapis.com/v2"

// tiktok returns the spec of TikTok's Login Kit. Its refresh tokens are valid for a single use.
func tiktok() Spec {
	return Spec{
		Platform: "tiktok", Name: "TikTok", Kind: Social, Family: "tiktok",
		AuthURL: "https://www.tiktok.com/v2/auth/authorize/", TokenURL: tiktokAPI + "/oauth/token/",
		RevokeURL: tiktokAPI + "/oauth/revoke/",
		Scopes: []string{
			"user.info.basic", "user.info.profile", "user.info.stats", "video.list",
			"video.upload", "video.publish",
		},
		Needed:         []string{"user.info.basic", "video.publish"},
		ScopeSeparator: ",", ClientParam: "client_key", PKCE: S256Hex,
		AuthParams: url.Values{"disable_auto_auth": {"1"}}, // lets the person choose another account than the last
		Renewal:    ByRefreshToken, Lifetime: 2 * time.Hour, RefreshLifetime: 180 * 24 * time.Hour, Rotates: true,
		Rate: 5, Burst: 5,
		Dialect: Dialect{Login: tiktokLogin, Revoke: revokeAccess, Judge: tiktokJudge},
	}
}

func tiktokLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	var said struct {
		Data struct {
			User struct {
				ID     string `json:"open_id"` // unique within the client key
				Name   string `json:"display_name"`
				Handle string `json:"username"`
				Avatar string `json:"avatar_url"`
			} `json:"user"`
		} `json:"data"`
	}
	err := p.Get(ctx, t, tiktokAPI+"/user/info/",
		url.Values{"fields": {"open_id,union_id,avatar_url,display_name,username"}}, nil, &said)
	if err != nil {
		return Login{}, nil, err
	}
	u := said.Data.User
	return p.one(Account{ExternalID: u.ID, DisplayName: named(u.Name, "@"+u.Handle), AvatarURL: u.Avatar})
}

// tiktokJudge classifies the APIs' errors: an object with the code "ok" on success. The errors of the token endpoint
// are the standard's, but may have status 200.
func tiktokJudge(r Reply) (Class, string) {
	var said struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(r.Body, &said) != nil || said.Error.Code == "" || said.Error.Code == "ok" {
		return "", ""
	}
	name := said.Error.Code
	switch name {
	case "access_token_invalid":
		return Stale, name
	case "scope_not_authorized", "scope_permission_missed":
		return Dead, name
	case "rate_limit_exceeded":
		return Throttled, name
	case "internal_error", "timeout":
		return Transient, name
	case "invalid_params", "invalid_file_upload":
		return Misconfigured, name
	}
	if r.Status < 300 {
		return Transient, name
	}
	return "", ""
}

// revokeAccess revokes the access token, for providers that accept no other.
func revokeAccess(ctx context.Context, p *Provider, t Token) error {
	_, err := p.send(ctx,
		p.asClient(ask{
			op: Revoking, method: http.MethodPost, address: p.RevokeURL,
			form: url.Values{"token": {t.Access.Reveal()}},
		}))
	return gone(err)
}
