package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func (a *App) mountConnect() {
	for _, f := range families {
		kind := f.kind
		httpx.Route(a.Server, httpx.Op{
			ID:     f.noun + ".connect",
			Method: http.MethodPost, Path: f.path + "/{platform}/connect", Need: httpx.Admin, Tag: accountTag,
			Title: "Start to connect " + f.one, Secret: true,
		}, func(ctx context.Context, in *connectIn) (*connectOut, error) { return a.connectAccounts(ctx, kind, in) })
	}

	pending := socialPath + "/pending/{id}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "pending_logins.get",
		Method: http.MethodGet, Path: pending, Need: httpx.Admin, Tag: accountTag,
		Title: "Get the accounts which a login offers",
	}, a.getPending)
	httpx.Route(a.Server, httpx.Op{
		ID:     "pending_logins.select",
		Method: http.MethodPost, Path: pending + "/select", Need: httpx.Admin, Tag: accountTag,
		Title:  "Connect accounts of a login",
		Writes: []string{"adaccounts.sync", "quota.announce", "social_account.connected", "token.revoke"},
	}, a.selectAccounts)
}

type connectIn struct {
	Platform string `path:"platform" maxLength:"50"`
	Origin   string `header:"Origin"`
	Body     *connectAccountRequest
}

// Descriptions implements wire.Describer.
func (connectIn) Descriptions() map[string]string {
	return map[string]string{
		"platform": "facebook, instagram, linkedin, linkedin_page, x, tiktok, youtube, pinterest, gmail, " +
			"outlook; ads: meta_ads, linkedin_ads, tiktok_ads, google_ads, pinterest_ads, x_ads",
		"Origin": "Sent by browsers. From this service's own origin, the connection is bound to the browser by a " +
			"cookie, and the callback connects without confirmation if there is nothing to choose",
	}
}

type connectAccountRequest struct {
	RedirectURL *string `json:"redirect_url,omitempty" maxLength:"2000"`
	AccountID   *id.ID  `json:"account_id,omitempty" format:"uuid"`
}

// Descriptions implements wire.Describer.
func (connectAccountRequest) Descriptions() map[string]string {
	return map[string]string{
		"redirect_url": "Where the browser is sent at the end, with status and pending_id in the query. Its origin " +
			"must be this service's or an allowed one. If absent, a page of this service",
		"account_id": "The account to reconnect: a login for another account changes nothing",
	}
}

type connectOut struct {
	Cookie string `header:"Set-Cookie" doc:"From this service's own origin: binds the connection to the browser"`
	Body   accountLogin
}

type accountLogin struct {
	AuthorizeURL string    `json:"authorize_url" doc:"Address to open in the person's browser"`
	State        string    `json:"state" doc:"Part of authorize_url"`
	ExpiresAt    wire.Time `json:"expires_at" format:"date-time" doc:"Deadline for the provider's redirect"`
}

func (a *App) connectAccounts(ctx context.Context, kind provider.Kind, in *connectIn) (*connectOut, error) {
	start := social.Start{
		Platform: in.Platform, Kind: kind, Actor: actorOf(httpx.Who(ctx)),
		Browser: in.Origin != "" && in.Origin == originOf(a.PublicURL),
	}
	if in.Body != nil {
		start.Account = in.Body.AccountID
		if in.Body.RedirectURL != nil {
			if err := a.mayEndAt(*in.Body.RedirectURL); err != nil {
				return nil, err
			}
			start.RedirectURL = *in.Body.RedirectURL
		}
	}

	out, err := a.beginConnection(ctx, start)
	if errors.Is(err, provider.ErrUnknownPlatform) {
		return nil, noPlatform(in.Platform, kind)
	}

	return out, platformFault(err)
}

// beginConnection prepares a connection, which for some platforms needs a call to the platform, and then stores it. It
// does not call the platform if the request is a replay or if the account to reconnect does not exist.
func (a *App) beginConnection(ctx context.Context, start social.Start) (*connectOut, error) {
	asks, err := a.Social.AsksFirst(start)
	if err != nil {
		return nil, err
	}

	if asks {
		if out, err := findStoredResponse[connectOut](ctx, a); out != nil || err != nil {
			return out, err
		}
		err := a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) error { return social.Check(ctx, tx, start) })
		if err != nil {
			return nil, err
		}
	}

	ready, err := a.Social.Prepare(ctx, httpx.Who(ctx).Org, start)
	if err != nil {
		return nil, social.Failure(err)
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*connectOut, error) {
		b, err := a.Social.Begin(ctx, tx, ready)
		if err != nil {
			return nil, err
		}
		return &connectOut{
			Cookie: a.connectCookie(b.State, b.Cookie, social.StateLife),
			Body:   accountLogin{AuthorizeURL: b.AuthorizeURL, State: b.State, ExpiresAt: b.ExpiresAt},
		}, nil
	})
}

// noPlatform returns the fault for an unknown platform of the kind, and names the known ones.
func noPlatform(platform string, kind provider.Kind) error {
	var names []string
	for _, spec := range provider.Catalogue() {
		if spec.Kind == kind {
			names = append(names, spec.Platform)
		}
	}
	return fault.New(fault.NotFound, fault.Choices("There is no such platform here.", platform, names))
}

// platformFault maps the provider's errors about platforms to faults.
func platformFault(err error) error {
	switch {
	case errors.Is(err, provider.ErrUnknownPlatform):
		return fault.New(fault.NotFound, "There is no such platform here.")
	case errors.Is(err, provider.ErrUnconfigured):
		return httpx.NotConfigured(httpx.PartOAuth)
	default:
		return err
	}
}

// actorOf returns the principal to which a connection is bound.
func actorOf(w auth.Who) social.Actor {
	if w.IsKey() {
		return social.Actor{Type: "api_key", ID: w.Key}
	}
	return social.Actor{Type: "user", ID: w.User, Staff: w.Staff}
}

// mayEndAt returns an error unless the origin of a redirect_url is allowed. A page elsewhere could make a login look
// like ours.
func (a *App) mayEndAt(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" || u.Fragment != "" ||
		strings.ContainsAny(raw, "\\\r\n\t ") {
		return fault.Invalid("redirect_url", "invalid_url", "Want an absolute URL without user and fragment.")
	}
	if got := u.Scheme + "://" + strings.ToLower(u.Host); got != originOf(a.PublicURL) &&
		!slices.Contains(a.CORSOrigins, got) {
		return fault.Invalid("redirect_url", "origin_not_allowed",
			"Its origin is neither this service's nor one of those that may call it.")
	}

	return nil
}

// originOf returns a URL's scheme, host and port in the form that browsers send.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// connectCookie returns a Set-Cookie header that binds a connection to a browser for life. It returns "" if value is
// empty. A life of 0 deletes the cookie.
func (a *App) connectCookie(state, value string, life time.Duration) string {
	if value == "" {
		return ""
	}

	seconds := int(life.Seconds())
	if seconds == 0 {
		seconds = -1
	}

	c := &http.Cookie{ //nolint:gosec // Secure where browsers use https; over http a browser would drop it
		Name: social.CookieName(state, a.isHTTPS()), Value: value, Path: "/", MaxAge: seconds, Secure: a.isHTTPS(),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	return c.String()
}

// isHTTPS reports whether browsers reach the service by https.
func (a *App) isHTTPS() bool { return strings.HasPrefix(a.PublicURL, "https://") }

// PendingID is the path parameter of one pending connection.
type PendingID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the pending connection: pending_id of the redirect"`
}

type pendingOut struct{ Body pendingLogin }

type pendingLogin struct {
	ID        id.ID                   `json:"id" format:"uuid" doc:"ID of the pending connection"`
	Platform  string                  `json:"platform" doc:"Platform of the login, such as facebook or google_ads"`
	AccountID *id.ID                  `json:"account_id" format:"uuid" nullable:"true" doc:"To reconnect; null: any"`
	Accounts  []social.OfferedAccount `json:"accounts" nullable:"false" doc:"The accounts which the login reaches"`
	ExpiresAt wire.Time               `json:"expires_at" format:"date-time" doc:"When the login is discarded"`
	Missing   []string                `json:"missing_scopes" nullable:"false" doc:"Permissions that were not granted"`
}

func showPending(p *social.Pending) *pendingOut {
	return &pendingOut{pendingLogin{
		ID: p.ID, Platform: p.Platform, AccountID: p.Account,
		Accounts: append([]social.OfferedAccount{}, p.Offers...), ExpiresAt: p.ExpiresAt,
		Missing: append([]string{}, p.MissingScopes()...),
	}}
}

// getPending returns the accounts to choose from. It asks the provider again if the provider failed at the callback.
func (a *App) getPending(ctx context.Context, in *PendingID) (*pendingOut, error) {
	var p *social.Pending
	err := a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		p, err = a.Social.Pending(ctx, tx, in.ID, actorOf(httpx.Who(ctx)))
		return err
	})
	if err != nil {
		return nil, err
	}
	if !p.Asked {
		if err := a.fetchReached(ctx, httpx.Who(ctx).Org, p); err != nil {
			return nil, err
		}
	}

	return showPending(p), nil
}

// fetchReached fetches the accounts which p's login reaches and stores them. If the provider refuses the login,
// fetchReached discards it.
func (a *App) fetchReached(ctx context.Context, org id.ID, p *social.Pending) error {
	reached, err := a.Social.Ask(ctx, org, p)
	if err != nil {
		f := social.Failure(err)
		if fault.Is(f, fault.ProviderRefused) {
			err := a.DB.Tx(ctx, org, func(tx *postgres.Tx) error { return a.Social.Discard(ctx, tx, p.ID) })
			return errors.Join(fault.New(fault.NotFound,
				"The provider has ended this login. Begin the connection again."), err)
		}
		return platformFault(f)
	}

	return a.DB.Tx(ctx, org, func(tx *postgres.Tx) error { return a.Social.Offer(ctx, tx, p, reached) })
}

type selectAccountsIn struct {
	PendingID
	Body struct {
		AccountIDs []string `json:"account_ids" maxItems:"1000"`
	}
}

// Descriptions implements wire.Describer.
func (selectAccountsIn) Descriptions() map[string]string {
	return map[string]string{
		"account_ids": "external_account_id of each account to connect; all or none are connected",
	}
}

type connectedAccountsOut struct {
	Body struct {
		Data []social.Account `json:"data" doc:"The accounts that are connected now"`
	}
}

func (a *App) selectAccounts(ctx context.Context, in *selectAccountsIn) (*connectedAccountsOut, error) {
	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*connectedAccountsOut, error) {
		all, err := a.Social.Connect(ctx, tx, in.ID, actorOf(httpx.Who(ctx)), in.Body.AccountIDs)
		if err != nil {
			return nil, err
		}
		out := &connectedAccountsOut{}
		out.Body.Data = make([]social.Account, len(all))
		for i, v := range all {
			out.Body.Data[i] = v.Account
		}
		return out, nil
	})
	if f := a.Plans.Refused(err); f != nil {
		return nil, a.addRemainingSpace(ctx, in, f)
	}

	return out, err
}

// addRemainingSpace adds to f how many of the chosen accounts the limit still allows. It reads the usage again, since
// the refusal counted accounts that were rolled back.
func (a *App) addRemainingSpace(ctx context.Context, in *selectAccountsIn, f *fault.Fault) error {
	chosen := int64(len(in.Body.AccountIDs))
	fit := int64(0)
	err := a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) error {
		p, err := a.Social.Pending(ctx, tx, in.ID, actorOf(httpx.Who(ctx)))
		if err != nil {
			return err
		}

		feature := plans.Social
		if p.Kind == provider.Ads {
			feature = plans.Ads
		}

		space, err := a.Plans.Room(ctx, tx, feature)
		if limit, ok := f.More["limit"].(int64); ok && err == nil && space.Full != nil {
			f.More["used"] = limit - space.Left
			fit = min(int64(p.Connected(in.Body.AccountIDs))+space.Left, chosen)
		}

		return err
	})
	if err != nil {
		return f
	}

	f.Detail = fmt.Sprintf("%d of %d fit; none was connected. %v of %v that the plan allows are in use.", fit, chosen,
		f.More["used"], f.More["limit"])
	f.More["fit"] = fit
	f.More["chosen"] = chosen

	return f
}
