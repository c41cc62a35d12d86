package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

const instagramGraph = "https://graph.instagram.com/"

// instagram returns the spec of Instagram's business login: the person is the account. A long-lived token is extended
// before it expires, from its second day on; an expired one cannot be.
func instagram() Spec {
	return Spec{
		Platform: "instagram", Name: "Instagram", Kind: Social, Family: "instagram", Version: GraphVersion,
		AuthURL: "https://www.instagram.com/oauth/authorize", TokenURL: "https://api.instagram.com/oauth/access_token",
		Scopes: []string{
			"instagram_business_basic", "instagram_business_content_publish", "instagram_business_manage_comments",
			"instagram_business_manage_messages",
		},
		Needed:         []string{"instagram_business_basic", "instagram_business_content_publish"},
		ScopeSeparator: ",",
		Renewal:        ByExtension, Lifetime: 60 * 24 * time.Hour, MinAge: 24 * time.Hour,
		Notifies: true,
		Rate:     10, Burst: 10,
		Dialect: Dialect{
			Exchange: instagramExchange, Refresh: instagramRefresh, Login: instagramLogin,
			Judge: graphJudge,
		},
	}
}

// instagramExchange exchanges the one-hour token of the code for a long-lived one.
func instagramExchange(ctx context.Context, p *Provider, c Code) (Token, error) {
	r, err := p.send(ctx,
		p.asClient(ask{op: Exchanging, method: http.MethodPost, address: p.TokenURL, form: codeForm(p, c)}))
	if err != nil {
		return Token{}, err
	}
	type short struct {
		Token       string `json:"access_token"`
		Permissions words  `json:"permissions"`
	}
	var said struct {
		short
		Data []short `json:"data"` // both formats are in use
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return Token{}, p.unusable(r, "not_json")
	}
	got := said.short
	if len(said.Data) > 0 {
		got = said.Data[0]
	}
	if got.Token == "" {
		return Token{}, p.unusable(r, "no_access_token")
	}
	long, err := p.tokenOf(ctx,
		ask{op: Exchanging, method: http.MethodGet, address: instagramGraph + "access_token", query: url.Values{
			"grant_type": {"ig_exchange_token"}, "client_secret": {p.app.ClientSecret.Reveal()},
			"access_token": {got.Token},
		}})
	if err == nil && len(got.Permissions) > 0 {
		long.Scopes = got.Permissions
	}
	return long, err
}

func instagramRefresh(ctx context.Context, p *Provider, t Token) (Token, error) {
	return p.tokenOf(ctx,
		ask{op: Renewing, method: http.MethodGet, address: instagramGraph + "refresh_access_token", query: url.Values{
			"grant_type": {"ig_refresh_token"}, "access_token": {t.Access.Reveal()},
		}})
}

func instagramLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	type person struct {
		ID      text   `json:"user_id"`
		Handle  string `json:"username"`
		Name    string `json:"name"`
		Picture string `json:"profile_picture_url"`
	}
	var said struct {
		person
		Data []person `json:"data"`
	}
	err := p.Get(ctx, t, instagramGraph+GraphVersion+"/me",
		url.Values{"fields": {"user_id,username,name,profile_picture_url"}}, nil, &said)
	if err != nil {
		return Login{}, nil, err
	}
	me := said.person
	if len(said.Data) > 0 {
		me = said.Data[0]
	}
	return p.one(Account{ExternalID: string(me.ID), DisplayName: named(me.Name, "@"+me.Handle), AvatarURL: me.Picture})
}
