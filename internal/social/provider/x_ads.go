package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/oauth1"
)

// XAdsVersion is the tested version of the X Ads API. It dates from October 2022, and no end of support is announced
// (docs.x.com/x-ads-api/fundamentals/versioning).
const XAdsVersion = "12"

const (
	xAdsAPI  = "https://ads-api.x.com/" + XAdsVersion
	xAdsPage = "1000" // the maximum page size
)

// xAds returns the spec for the ad accounts that a person at X can see. It uses OAuth 1.0a only. Its tokens do not
// expire: they end when the person removes the application or revokes them, or when X suspends the person or the
// application. A person who consents again gets the same token while it is valid, so revoking one login ends the
// others.
func xAds() Spec {
	return Spec{
		Platform: "x_ads", Name: "X Ads", Kind: Ads, Family: "x_ads", Version: XAdsVersion,
		AuthURL: "https://api.x.com/oauth/authorize", TokenURL: "https://api.x.com/oauth/access_token",
		CodeParam: "oauth_verifier",
		Renewal:   NoRenewal, Several: true, RevokesSiblings: true,
		Rate: 5, Burst: 5,
		Dialect: Dialect{
			Request: xAdsRequest, Exchange: xAdsExchange, Login: xAdsLogin, Revoke: xAdsRevoke, Judge: xAdsJudge,
		},
	}
}

// xAdsRequest obtains a request token, the first of the three steps.
func xAdsRequest(ctx context.Context, p *Provider, callbackURL string) (Secret, error) {
	a := ask{op: Requesting, method: http.MethodPost, address: "https://api.x.com/oauth/request_token"}
	r, err := p.send(ctx, p.signedBy("", a, oauth1.Param{Name: "oauth_callback", Value: callbackURL}))
	if err != nil {
		return "", err
	}
	token, said, err := p.tokenOfForm(r)
	if err != nil {
		return "", err
	}
	if said.Get("oauth_callback_confirmed") != "true" {
		return "", p.unusable(r, "callback_not_confirmed")
	}
	return token, nil
}

func xAdsExchange(ctx context.Context, p *Provider, c Code) (Token, error) {
	issued := p.now()
	a := ask{op: Exchanging, method: http.MethodPost, address: p.TokenURL}
	r, err := p.send(ctx, p.signedBy(c.Verifier, a, oauth1.Param{Name: "oauth_verifier", Value: c.Code.Reveal()}))
	if err != nil {
		return Token{}, err
	}
	token, said, err := p.tokenOfForm(r)
	if err != nil {
		return Token{}, err
	}
	return Token{Access: token, IssuedAt: issued, Subject: said.Get("user_id")}, nil
}

func xAdsLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who := Login{Subject: t.Subject}
	var accounts []Account
	for next := ""; ; {
		var page struct {
			Data []struct {
				ID      text   `json:"id"`
				Name    string `json:"name"`
				Deleted bool   `json:"deleted"`
			} `json:"data"`
			Next string `json:"next_cursor"`
		}
		q := url.Values{"count": {xAdsPage}}
		if next != "" {
			q.Set("cursor", next)
		}
		a := ask{op: Asking, method: http.MethodGet, address: xAdsAPI + "/accounts", query: q}
		if err := p.read(ctx, p.signedBy(t.Access, a), &page); err != nil {
			return Login{}, nil, p.xAdsCause(ctx, t, err)
		}
		for _, d := range page.Data {
			if id := string(d.ID); id != "" && !d.Deleted {
				accounts = append(accounts, Account{ExternalID: id, DisplayName: named(d.Name, id)})
			}
		}
		if page.Next == "" || page.Next == next {
			return p.several(who, accounts)
		}
		if next = page.Next; len(accounts) >= MaxAccounts {
			who.Cut = true
			return p.several(who, accounts)
		}
	}
}

// xAdsCause finds the cause of a 401 of the Ads API, which returns UNAUTHORIZED_ACCESS both for a revoked token and for
// a wrong signature: X's own API distinguishes the two. If that API gives no better error, xAdsCause returns err.
func (p *Provider) xAdsCause(ctx context.Context, t Token, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusUnauthorized || e.Class != Misconfigured {
		return err
	}
	a := ask{op: Asking, method: http.MethodGet, address: "https://api.x.com/1.1/account/verify_credentials.json"}
	_, cause := p.send(ctx, p.signedBy(t.Access, a))
	if c := ClassOf(cause); c == "" || c == Misconfigured {
		return err
	}
	return cause
}

// xAdsRevoke revokes the token that signs the request.
func xAdsRevoke(ctx context.Context, p *Provider, t Token) error {
	a := ask{op: Revoking, method: http.MethodPost, address: "https://api.x.com/1.1/oauth/invalidate_token"}
	_, err := p.send(ctx, p.signedBy(t.Access, a))
	return gone(err)
}

// xAdsCodes maps codes to classes: numbers of X's own API, names of the Ads API.
var xAdsCodes = map[string]Class{
	"89": Dead, // invalid or expired token
	"63": Dead, "64": Dead, "326": Dead, "CURRENT_USER_SUSPENDED": Dead,
	"INSUFFICIENT_USER_AUTHORIZED_PERMISSION": Dead, // granted before the app could read ads: reconnecting helps
	"88": Throttled, "185": Throttled, "TOO_MANY_REQUESTS": Throttled,
	"130": Transient, "131": Transient, "INTERNAL_ERROR": Transient, "OVER_CAPACITY": Transient,
	"SERVICE_UNAVAILABLE": Transient, "CANCELLED_REQUEST": Transient, "LOCK_ACQUISITION_TIMEOUT": Transient,
	"32": Misconfigured, "87": Misconfigured, "99": Misconfigured, "215": Misconfigured, "220": Misconfigured,
	"261": Misconfigured, "416": Misconfigured, "453": Misconfigured,
	"135": Misconfigured, // the timestamp: our clock is wrong
	"415": Misconfigured, // the callback is not on the application's list
}

// xmlCode matches the code of an error that the OAuth endpoints write as XML.
var xmlCode = regexp.MustCompile(`<error code="(\d+)"`)

// xAdsJudge classifies the codes of both APIs. An unknown refusal is attributed to our application: these tokens cannot
// be renewed, so attributing it to the token would disconnect the login at once.
func xAdsJudge(r Reply) (Class, string) {
	if r.Status < 300 {
		return "", ""
	}
	name := xAdsCode(r)
	if class, ok := xAdsCodes[name]; ok {
		return class, name
	}
	if name == "" {
		name = strconv.Itoa(r.Status)
	}
	spent := r.Op == Exchanging && has(string(r.Body), "request token", "oauth_verifier", "expired token")
	switch {
	case r.Status == http.StatusTooManyRequests:
		return Throttled, name
	case r.Status == http.StatusUnauthorized && spent:
		return Dead, name
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden:
		return Misconfigured, name
	}
	return "", ""
}

// xAdsCode returns the first code of an error, or "" if there is none.
func xAdsCode(r Reply) string {
	var said struct {
		Errors []struct {
			Code text `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(r.Body, &said) == nil && len(said.Errors) > 0 {
		return string(said.Errors[0].Code)
	}
	if found := xmlCode.FindSubmatch(r.Body); found != nil {
		return string(found[1])
	}
	return ""
}
