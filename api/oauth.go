package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/pages"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

func (a *App) mountOAuth() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "oauth.callback",
		Method: http.MethodGet, Path: "/oauth/{platform}/callback", Need: httpx.Public, Signed: true, Foreign: true,
		Tag: accountTag, Title: "Handle the redirect from a platform's login",
		Also:   []int{http.StatusSeeOther},
		May:    []int{http.StatusPaymentRequired, http.StatusConflict, http.StatusUnprocessableEntity},
		Writes: []string{"adaccounts.sync", "quota.announce", "social_account.connected", "token.revoke"},
	}, a.completeLogin)
}

// Outcomes of a connection, in the status parameter of the redirect.
const (
	endConnected = "connected"
	endPending   = "pending" // pending_id names the pending connection
	endDenied    = "denied"
	endFailed    = "failed" // code has the reason
)

type callbackIn struct {
	Platform    string `path:"platform" maxLength:"50" doc:"Platform whose login ends here, as in connect"`
	State       string `query:"state" maxLength:"200" doc:"As returned by connect"`
	Code        string `query:"code" maxLength:"4000" doc:"Authorization code"`
	AuthCode    string `query:"auth_code" maxLength:"4000" doc:"Authorization code of TikTok's ads platform"`
	Error       string `query:"error" maxLength:"2000" doc:"Reason of a refusal"`
	ErrorReason string `query:"error_reason" maxLength:"2000" doc:"Details of a refusal, as some platforms send them"`
	OAuthToken  string `query:"oauth_token" maxLength:"1000" doc:"OAuth 1.0a: the connection's request token"`
	Verifier    string `query:"oauth_verifier" maxLength:"4000" doc:"OAuth 1.0a: the verifier"`
	Denied      string `query:"denied" maxLength:"1000" doc:"OAuth 1.0a: the request token that was refused"`
	Cookies     string `header:"Cookie" hidden:"true"`
}

// platformQuery returns the platform's own callback parameters by their names, without empty ones.
func (in *callbackIn) platformQuery() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"code": in.Code, "auth_code": in.AuthCode, "error": in.Error, "error_reason": in.ErrorReason,
		"oauth_token": in.OAuthToken, "oauth_verifier": in.Verifier, "denied": in.Denied,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

type callbackOut struct {
	Status   int
	Location string `header:"Location" doc:"redirect_url with status, and pending_id, account_id or code"`
	Cookie   string `header:"Set-Cookie" doc:"Removes the cookie that bound the connection to the browser"`
	Kind     string `header:"Content-Type" hidden:"true"`
	Policy   string `header:"Content-Security-Policy" hidden:"true"`
	Body     []byte
}

// ending is the outcome of a connection.
type ending struct {
	status  string
	pending id.ID
	account id.ID
	err     error // for endFailed
}

// completeLogin verifies the state before it trusts anything else. The state yields the connection's owner, whether the
// owner may still connect accounts, and where to send the browser. An invalid state is a 400, whatever the other
// parameters.
func (a *App) completeLogin(ctx context.Context, in *callbackIn) (*callbackOut, error) {
	taken, err := a.consumeState(ctx, in)
	if err != nil {
		if fault.Is(err, fault.InvalidState) {
			httpx.Unverified(ctx)
		}
		return nil, err
	}

	// The exchange consumes the code, so the rest must finish even if the client disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callbackTime)
	defer cancel()

	ctx = events.WithOrigin(
		httpx.WithOrg(ctx, taken.Org),
		events.Origin{
			ActorType: taken.Actor.Type,
			ActorID:   taken.Actor.ID.String(),
			RequestID: httpx.RequestOf(ctx).ID,
		},
	)

	return a.endAt(ctx, in, taken, a.exchangeCode(ctx, in, taken))
}

// callbackTime is the timeout for the work after a callback: an exchange of at most two requests, and a login.
const callbackTime = 50 * time.Second

// consumeState consumes the state and returns its connection, if the user who began it may still connect accounts.
func (a *App) consumeState(ctx context.Context, in *callbackIn) (taken *social.Taken, err error) {
	home, ok := social.StateOrg(in.State)
	if !ok {
		return nil, social.ErrState
	}

	var standing auth.Who
	err = a.DB.Tx(ctx, home, func(tx *postgres.Tx) error {
		if taken, err = a.Social.Take(ctx, tx, in.Platform, in.State, a.cookieOf(in), in.platformQuery()); err != nil {
			return err
		}

		w := auth.Who{Staff: taken.Actor.Staff}
		if taken.Actor.Type == "api_key" {
			w.Key = taken.Actor.ID
		} else {
			w.User = taken.Actor.ID
		}

		standing, err = a.Auth.Standing(ctx, tx, w)
		if fault.Is(err, fault.InvalidToken) { // still consume the state
			return nil
		}

		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !standing.Role.Includes(auth.Admin), standing.Closed != auth.Open:
		return nil, social.ErrState
	}

	return taken, nil
}

// cookieOf returns the value of the cookie that belongs to the state.
func (a *App) cookieOf(in *callbackIn) string {
	if in.Cookies == "" {
		return ""
	}

	cookies, err := http.ParseCookie(in.Cookies)
	if err != nil {
		return ""
	}

	name := social.CookieName(in.State, a.isHTTPS())
	for _, c := range cookies {
		if c.Name == name {
			return c.Value
		}
	}

	return ""
}

// exchangeCode exchanges the code and stores the tokens before any further request. It connects the account if there is
// nothing to choose or confirm.
func (a *App) exchangeCode(ctx context.Context, in *callbackIn, taken *social.Taken) ending {
	code, err := a.Social.Returned(taken, in.platformQuery())
	if errors.Is(err, provider.ErrDenied) {
		return ending{status: endDenied}
	}

	var token provider.Token
	if err == nil {
		token, err = a.Social.Exchange(ctx, taken, code)
	}
	if err != nil {
		return ending{status: endFailed, err: platformFault(social.Failure(err))}
	}

	var p *social.Pending
	err = a.DB.Tx(ctx, taken.Org, func(tx *postgres.Tx) (err error) {
		p, err = a.Social.Keep(ctx, tx, taken, token)
		return err
	})
	if err != nil {
		return ending{status: endFailed, err: err}
	}

	reached, err := a.Social.Ask(ctx, taken.Org, p)
	if f := fault.Of(err); f != nil { // another login is needed
		lost := a.DB.Tx(ctx, taken.Org, func(tx *postgres.Tx) error { return a.Social.Discard(ctx, tx, p.ID) })
		return ending{status: endFailed, err: cmp.Or[error](lost, f)}
	}
	if err != nil { // the tokens are stored: reading the pending connection tries again
		a.Log.WarnContext(ctx, "reading a login's accounts at the callback failed", "platform", taken.Platform,
			"error", err)
		return ending{status: endPending, pending: p.ID}
	}

	return a.offerAccounts(ctx, taken, p, reached)
}

// offerAccounts stores the accounts which the login reaches. If there is exactly one and the console's own browser has
// returned, offerAccounts connects it. A login for another account than the one to reconnect is discarded.
func (a *App) offerAccounts(
	ctx context.Context,
	taken *social.Taken,
	p *social.Pending,
	reached *social.Reached,
) ending {
	err := a.DB.Tx(ctx, taken.Org, func(tx *postgres.Tx) error {
		err := a.Social.Offer(ctx, tx, p, reached)
		if err == nil && (p.Wrong() || p.Empty()) {
			err = a.Social.Discard(ctx, tx, p.ID)
		}
		return err
	})
	switch {
	case err != nil:
		return ending{status: endFailed, err: err}
	case p.Wrong():
		return ending{status: endFailed, err: social.ErrWrongAccount}
	case p.Empty():
		return ending{status: endFailed, err: p.Nothing()}
	}

	external, one := p.Only()
	if !one || !taken.Browser {
		return ending{status: endPending, pending: p.ID}
	}

	out := ending{status: endConnected}
	err = a.DB.Tx(ctx, taken.Org, func(tx *postgres.Tx) error {
		all, err := a.Social.Connect(ctx, tx, p.ID, taken.Actor, []string{external})
		if err == nil {
			out.account = all[0].ID
		}
		return err
	})
	if err != nil { // such as a full plan: the login stays usable
		return ending{status: endFailed, pending: p.ID, err: err}
	}

	return out
}

// endAt sends the browser to the connection's redirect_url, or returns a page if it has none.
func (a *App) endAt(ctx context.Context, in *callbackIn, taken *social.Taken, e ending) (*callbackOut, error) {
	out := &callbackOut{Status: http.StatusOK}
	if taken.Browser {
		out.Cookie = a.connectCookie(in.State, "-", 0)
	}

	var refused *httpx.Problem
	if e.err != nil {
		refused = a.Problem(ctx, e.err)
	}

	if taken.RedirectURL == "" {
		if refused != nil {
			return nil, refused
		}
		shown := a.pages.BrandOf(ctx, taken.Org)
		var err error
		out.Kind = "text/html; charset=utf-8"
		out.Body, out.Policy, err = shown.Render(endingPage(e.status))
		return out, err
	}

	to, err := url.Parse(taken.RedirectURL)
	if err != nil {
		return nil, fmt.Errorf("read redirect_url: %w", err)
	}

	q := to.Query()
	q.Set("status", e.status)
	for name, value := range map[string]id.ID{"pending_id": e.pending, "account_id": e.account} {
		if !value.IsZero() {
			q.Set(name, value.String())
		}
	}

	if refused != nil {
		q.Set("code", string(refused.Code))
	}

	to.RawQuery = q.Encode()
	out.Status = http.StatusSeeOther
	out.Location = to.String()

	return out, nil
}

// endingPage returns the page for a browser without a redirect_url.
func endingPage(status string) branding.Page {
	title, text := "Connected", "The account is connected. You can close this page."
	switch status {
	case endPending:
		title, text = "Almost done", "The login has arrived. Go back to where you began, and choose what to connect."
	case endDenied:
		title, text = "Not connected", "You did not agree, so nothing was connected. You can close this page."
	}
	return pages.Message(title, text)
}
