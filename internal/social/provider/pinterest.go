package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const pinterestAPI = "https://api.pinterest.com/v5"

// pinterest returns Pinterest's spec. Its refresh tokens live for 60 days, and each refresh issues a new one. Whether
// the old one is invalidated at once is not documented, so the spec assumes that it is.
func pinterest() Spec {
	return Spec{
		Platform: "pinterest", Name: "Pinterest", Kind: Social, Family: "pinterest",
		AuthURL: "https://www.pinterest.com/oauth/", TokenURL: pinterestAPI + "/oauth/token",
		Scopes:         []string{"user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"},
		Needed:         []string{"boards:read", "pins:write"},
		ScopeSeparator: ",", Auth: InBasic,
		Renewal: ByRefreshToken, Lifetime: 30 * 24 * time.Hour, RefreshLifetime: 60 * 24 * time.Hour, Rotates: true,
		Rate: 5, Burst: 5,
		Dialect: Dialect{Login: pinterestLogin, Judge: pinterestJudge},
	}
}

// pinterestAds returns the spec for the ad accounts, with the same application.
func pinterestAds() Spec {
	s := pinterest()
	s.Platform, s.Name, s.Kind, s.Several = "pinterest_ads", "Pinterest Ads", Ads, true
	s.Scopes = []string{"user_accounts:read", "ads:read", "ads:write"}
	s.Needed = []string{"ads:read"}
	s.Dialect.Login = pinterestAdsLogin
	return s
}

type pinner struct {
	ID     text   `json:"id"`
	Handle string `json:"username"`
	Name   string `json:"business_name"`
	Image  string `json:"profile_image"`
}

func pinterestMe(ctx context.Context, p *Provider, t Token) (pinner, error) {
	var me pinner
	err := p.Get(ctx, t, pinterestAPI+"/user_account", nil, nil, &me)
	return me, err
}

func pinterestLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	me, err := pinterestMe(ctx, p, t)
	if err != nil {
		return Login{}, nil, err
	}
	return p.one(Account{ExternalID: string(me.ID), DisplayName: named(me.Name, "@"+me.Handle), AvatarURL: me.Image})
}

func pinterestAdsLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	me, err := pinterestMe(ctx, p, t)
	if err != nil {
		return Login{}, nil, err
	}
	who := Login{Subject: string(me.ID), Name: named(me.Name, "@"+me.Handle), AvatarURL: me.Image}
	var accounts []Account
	for next := ""; ; {
		var page struct {
			Items []struct {
				ID   text   `json:"id"`
				Name string `json:"name"`
			} `json:"items"`
			Bookmark string `json:"bookmark"`
		}
		q := url.Values{"page_size": {"250"}}
		if next != "" {
			q.Set("bookmark", next)
		}
		if err := p.Get(ctx, t, pinterestAPI+"/ad_accounts", q, nil, &page); err != nil {
			return Login{}, nil, err
		}
		for _, a := range page.Items {
			accounts = append(accounts, Account{ExternalID: string(a.ID), DisplayName: named(a.Name, string(a.ID))})
		}
		if page.Bookmark == "" || page.Bookmark == next {
			return p.several(who, accounts)
		}
		if next = page.Bookmark; len(accounts) >= MaxAccounts {
			who.Cut = true
			return p.several(who, accounts)
		}
	}
}

// pinterestJudge uses the error's text where a code is ambiguous: at the token endpoint a 401 may be about the token or
// about the client.
func pinterestJudge(r Reply) (Class, string) {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if r.Status < 400 || json.Unmarshal(r.Body, &said) != nil || said.Code == nil {
		return "", ""
	}
	name := strconv.Itoa(*said.Code)
	switch {
	case r.Status == http.StatusTooManyRequests, *said.Code == 8:
		return Throttled, name
	case r.Status >= 500:
		return "", ""
	case r.Op.spends() && has(said.Message, "client", "application", "app id"):
		return Misconfigured, name
	case r.Op.spends() &&
		has(said.Message, "refresh token", "refresh_token", "authorization grant", "authorization code"):
		return Dead, name
	case r.Op.spends():
		return Misconfigured, name // may be our secret: must not disconnect a login
	case r.Status == http.StatusUnauthorized:
		return Stale, name
	case r.Status == http.StatusForbidden, *said.Code == 29:
		return Dead, name
	}
	return "", ""
}
