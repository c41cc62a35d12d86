package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

const tiktokBusiness = "https://business-api.tiktok.com/open_api/v1.3"

// tiktokAds returns the spec of TikTok for Business, which has another authorization server, another application, and
// JSON throughout. Its tokens do not expire; every response has status 200.
func tiktokAds() Spec {
	return Spec{
		Platform: "tiktok_ads", Name: "TikTok Ads", Kind: Ads, Family: "tiktok_ads",
		AuthURL: "https://business-api.tiktok.com/portal/auth", TokenURL: tiktokBusiness + "/oauth2/access_token/",
		ClientParam: "app_id", CodeParam: "auth_code",
		Renewal: NoRenewal, Several: true,
		Rate: 5, Burst: 5,
		Dialect: Dialect{
			Exchange: tiktokAdsExchange, Login: tiktokAdsLogin, Revoke: tiktokAdsRevoke,
			Judge: tiktokAdsJudge,
		},
	}
}

func tiktokAdsExchange(ctx context.Context, p *Provider, c Code) (Token, error) {
	issued := p.now()
	r, err := p.send(ctx, ask{op: Exchanging, method: http.MethodPost, address: p.TokenURL, json: map[string]string{
		"app_id": p.app.ClientID, "secret": p.app.ClientSecret.Reveal(), "auth_code": c.Code.Reveal(),
		"grant_type": "authorization_code",
	}})
	if err != nil {
		return Token{}, err
	}
	var said struct {
		Data grant `json:"data"`
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return Token{}, p.unusable(r, "not_json")
	}
	return p.tokenFrom(said.Data, r, issued)
}

func tiktokAdsLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	var me struct {
		Data struct {
			ID     text   `json:"core_user_id"`
			Name   string `json:"display_name"`
			Avatar string `json:"avatar_url"`
		} `json:"data"`
	}
	header := http.Header{"Access-Token": {t.Access.Reveal()}}
	get := func(path string, query url.Values, into any) error {
		return p.read(ctx,
			ask{op: Asking, method: http.MethodGet, address: tiktokBusiness + path, query: query, header: header}, into)
	}
	if err := get("/user/info/", nil, &me); err != nil {
		return Login{}, nil, err
	}
	var list struct {
		Data struct {
			List []struct {
				ID   text   `json:"advertiser_id"`
				Name string `json:"advertiser_name"`
			} `json:"list"`
		} `json:"data"`
	}
	if err := get("/oauth2/advertiser/get/",
		url.Values{"app_id": {p.app.ClientID}, "secret": {p.app.ClientSecret.Reveal()}}, &list); err != nil {
		return Login{}, nil, err
	}
	var accounts []Account
	for _, a := range list.Data.List {
		accounts = append(accounts, Account{ExternalID: string(a.ID), DisplayName: named(a.Name, string(a.ID))})
	}
	return p.several(Login{Subject: string(me.Data.ID), Name: me.Data.Name, AvatarURL: me.Data.Avatar}, accounts)
}

func tiktokAdsRevoke(ctx context.Context, p *Provider, t Token) error {
	_, err := p.send(ctx,
		ask{
			op: Revoking, method: http.MethodPost, address: tiktokBusiness + "/oauth2/revoke_token/",
			json: map[string]string{
				"app_id": p.app.ClientID, "secret": p.app.ClientSecret.Reveal(), "access_token": t.Access.Reveal(),
			},
		})
	return gone(err)
}

// tiktokAdsJudge classifies the codes that come with status 200.
func tiktokAdsJudge(r Reply) (Class, string) {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(r.Body, &said) != nil || said.Code == nil {
		return "", ""
	}
	c := *said.Code
	name := strconv.Itoa(c)
	switch {
	case c == 0, c == 20001: // success, or partial success
		return "", ""
	case c == 40100, c == 40016, c == 61000:
		return Throttled, name
	case c == 40001 && has(said.Message, "app"), c == 40101,
		slices.Contains([]int{40002, 40006, 40007}, c) && !has(said.Message, "auth_code", "auth code", "access token"):
		return Misconfigured, name
	case c == 40001, c == 40002, c == 40102, c == 40103, c == 40104, c == 40105, c == 40106, c == 40107, c == 40110,
		c == 40113, c == 40131:
		return Dead, name
	case c >= 50000 && c < 60000, c >= 60000 && c < 70000:
		return Transient, name
	default:
		return Misconfigured, name
	}
}
