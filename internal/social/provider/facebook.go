package provider

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// facebook returns the spec of Facebook pages. The person's token is exchanged for a long-lived one at once, and again
// before that expires; each page has its own token, which lives as long as the person's consent.
func facebook() Spec {
	return Spec{
		Platform: "facebook", Name: "Facebook", Kind: Social, Family: "facebook", Version: GraphVersion,
		AuthURL: "https://www.facebook.com/" + GraphVersion + "/dialog/oauth", TokenURL: graph + "/oauth/access_token",
		Scopes: []string{
			"public_profile", "pages_show_list", "pages_manage_posts", "pages_read_engagement",
			"pages_manage_engagement", "read_insights", "business_management",
		},
		Needed:         []string{"pages_show_list", "pages_manage_posts"},
		ScopeSeparator: ",", PKCE: S256,
		Renewal: ByExchange, Lifetime: 60 * 24 * time.Hour, MinAge: 24 * time.Hour,
		Several: true, RevokesSiblings: true, OwnTokens: true, Notifies: true,
		Rate: 10, Burst: 10,
		Dialect: Dialect{
			Exchange: facebookExchange, Refresh: facebookRefresh, Login: facebookLogin,
			Revoke: facebookRevoke, Judge: graphJudge,
		},
	}
}

// facebookExchange exchanges the short-lived token of the code for a long-lived one.
func facebookExchange(ctx context.Context, p *Provider, c Code) (Token, error) {
	short, err := standardExchange(ctx, p, c)
	if err != nil {
		return Token{}, err
	}
	long, err := facebookLong(ctx, p, Exchanging, short)
	if err != nil {
		return Token{}, err
	}
	long.Scopes = short.Scopes
	return long, nil
}

func facebookRefresh(ctx context.Context, p *Provider, t Token) (Token, error) {
	return facebookLong(ctx, p, Renewing, t)
}

// facebookLong exchanges a valid token for one that lives some 60 days. The old one stays valid.
func facebookLong(ctx context.Context, p *Provider, op Op, t Token) (Token, error) {
	return p.tokenOf(ctx, ask{op: op, method: http.MethodGet, address: p.TokenURL, query: url.Values{
		"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {t.Access.Reveal()},
		"client_id": {p.app.ClientID}, "client_secret": {p.app.ClientSecret.Reveal()},
	}})
}

func facebookLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := graphMe(ctx, p, t)
	if err != nil {
		return Login{}, nil, err
	}
	type page struct {
		ID      string  `json:"id"`
		Name    string  `json:"name"`
		Token   string  `json:"access_token"`
		Picture picture `json:"picture"`
	}
	pages, cut, err := graphList[page](ctx, p, t, "/me/accounts", "id,name,access_token,picture{url}")
	if err != nil {
		return who, nil, err
	}
	var accounts []Account
	for _, g := range pages {
		if g.ID != "" && g.Token != "" { // a page without a token was not granted
			accounts = append(accounts,
				Account{ExternalID: g.ID, DisplayName: g.Name, AvatarURL: g.Picture.Data.URL, Token: Secret(g.Token)})
		}
	}
	who.Cut = cut
	return p.several(who, accounts)
}

// facebookRevoke revokes every permission that the person gave to the application.
func facebookRevoke(ctx context.Context, p *Provider, t Token) error {
	_, err := p.send(ctx,
		ask{
			op: Revoking, method: http.MethodDelete, address: graph + "/me/permissions", query: p.proof(t, nil),
			bearer: t.Access,
		})
	return gone(err)
}

func graphMe(ctx context.Context, p *Provider, t Token) (Login, error) {
	var me struct {
		ID      string  `json:"id"`
		Name    string  `json:"name"`
		Picture picture `json:"picture"`
	}
	err := p.Get(ctx, t, graph+"/me", p.proof(t, url.Values{"fields": {"id,name,picture"}}), nil, &me)
	if err != nil {
		return Login{}, err
	}

	return Login{
		Subject: me.ID, Name: me.Name, AvatarURL: me.Picture.Data.URL, Scopes: graphPermissions(ctx, p, t),
	}, nil
}

// graphList reads a list page by page, to its end or to MaxAccounts. It pages by cursor and never requests an address
// from a response.
func graphList[T any](ctx context.Context, p *Provider, t Token, path, fields string) (all []T, cut bool, err error) {
	const size = 100
	next := ""
	for range MaxAccounts/size + 1 {
		q := url.Values{"fields": {fields}, "limit": {strconv.Itoa(size)}}
		if next != "" {
			q.Set("after", next)
		}
		var page graphPage[T]
		if err := p.Get(ctx, t, graph+path, p.proof(t, q), nil, &page); err != nil {
			return nil, false, err
		}
		all = append(all, page.Data...)
		if page.Paging.Next == "" || page.Paging.Cursors.After == "" || page.Paging.Cursors.After == next {
			return all, false, nil
		}
		next = page.Paging.Cursors.After
	}
	return all, true, nil
}
