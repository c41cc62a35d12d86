package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const (
	connectPath       = "/white-label/connect"
	connectAccountTag = "Payments of resellers"
)

func (a *App) mountWhiteLabelConnect() {
	told := []string{"connect.enabled", "connect.restricted"}
	httpx.Route(a.Server, httpx.Op{
		ID:     "connect.create_onboarding_link",
		Method: http.MethodPost, Path: connectPath + "/onboarding", Need: httpx.Owner, Part: httpx.PartBilling,
		Tag:   connectAccountTag,
		Title: "Get a link to the reseller's onboarding at the payment processor", Secret: true,
		Feature: plans.WhiteLabeling, Writes: told,
	}, a.startOnboarding)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "connect.get",
			Method: http.MethodGet, Path: connectPath, Need: httpx.Admin, Tag: connectAccountTag,
			Title: "Get the state of the reseller's payment account",
		}, a.readConnect)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "connect.list_fees",
			Method: http.MethodGet, Path: connectPath + "/fees", Need: httpx.Owner, Tag: connectAccountTag,
			Title: "List the fees of the invoices that clients have paid",
		}, a.listFees)
	a.mountConnectSales()
	for _, mount := range []struct {
		id, path, title string
		handle          func(context.Context, *onboardedIn) (*onboardedOut, error)
	}{
		{
			"connect.finish_onboarding", "/return", "Take a browser back from the payment processor",
			a.onboardingReturned,
		},
		{
			"connect.refresh_onboarding", "/refresh", "Lead a browser to a new link where one is over",
			a.onboardingRefreshed,
		},
	} {
		httpx.Route(a.Server, httpx.Op{
			ID:      mount.id,
			Method:  http.MethodGet,
			Path:    connectPath + mount.path,
			Need:    httpx.Public,
			Signed:  true,
			Part:    httpx.PartBilling,
			Foreign: true,
			Tag:     connectAccountTag,
			Title:   mount.title,
			Also:    []int{http.StatusSeeOther},
			May:     []int{http.StatusPaymentRequired, http.StatusConflict},
			Writes:  told,
		}, mount.handle)
	}
}

type onboardIn struct {
	Origin string `header:"Origin"`
}

// Descriptions implements wire.Describer.
func (onboardIn) Descriptions() map[string]string {
	return map[string]string{
		"Origin": "Sent by browsers. From this service's own origin, the link is bound to the browser by a cookie, " +
			"and an expired link redirects the browser to a new one",
	}
}

type onboardingLinkOut struct {
	Cookie string `header:"Set-Cookie" doc:"From this service's own origin: binds the link to the browser"`
	Body   struct {
		URL       string    `json:"url" format:"uri"`
		ExpiresAt wire.Time `json:"expires_at" format:"date-time" doc:"When the link can no longer be opened"`
	}
}

// Descriptions implements wire.Describer.
func (onboardingLinkOut) Descriptions() map[string]string {
	return map[string]string{
		"url": "The payment processor's page, for a single visit: anyone with the link can act for the account's " +
			"owner, so do not store or mail it",
	}
}

// startOnboarding creates a new link on each request. An Idempotency-Key rejects a different request with the same key,
// but the response is not stored: a used link is worthless, so a repeated request gets a new one.
func (a *App) startOnboarding(ctx context.Context, in *onboardIn) (*onboardingLinkOut, error) {
	if err := a.checkKeyOnly(ctx); err != nil {
		return nil, err
	}

	w := httpx.Who(ctx)
	t := newOnboarding(w, in.Origin != "" && in.Origin == originOf(a.PublicURL))
	link, err := a.onboardingLink(ctx, t)
	if err != nil {
		return nil, err
	}

	out := &onboardingLinkOut{Cookie: a.onboardingCookie(t)}
	out.Body.URL = link.URL
	out.Body.ExpiresAt = wire.At(link.Until)
	return out, nil
}

// checkKeyOnly checks the request against its idempotency key, if it has one, and stores no response.
func (a *App) checkKeyOnly(ctx context.Context) error {
	r := httpx.RequestOf(ctx)
	if r.Key == "" {
		return nil
	}

	return a.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) error {
		stored, err := httpx.RecallStored(ctx, tx, r)
		if err != nil || stored != nil {
			return err
		}
		return httpx.StoreResponse(tx, a.Server, r, &struct{}{})
	})
}

type connectStateOut struct {
	httpx.Tagged
	Body connectState
}

type connectState struct {
	FeePercent string `json:"application_fee_percent"`

	Status string `json:"status" enum:"not_started,onboarding,pending_review,restricted,enabled,disconnected"`

	CanSell        bool                `json:"can_sell" doc:"Enabled, and the plan has white_label; required to sell"`
	AccountID      *string             `json:"account_id" doc:"ID at the payment processor; null before it exists"`
	ChargesEnabled bool                `json:"charges_enabled" doc:"Whether the account can charge clients"`
	PayoutsEnabled bool                `json:"payouts_enabled"`
	Requirements   connectRequirements `json:"requirements"`
	StatusSince    *wire.Time          `json:"status_since_at" format:"date-time" doc:"null before onboarding starts"`
}

// Descriptions implements wire.Describer.
func (connectState) Descriptions() map[string]string {
	return map[string]string{
		"application_fee_percent": "The platform's share of each client payment under the current plan, with two " +
			"decimals",
		"status": "onboarding and restricted wait for the account's owner, pending_review for the " +
			"payment processor",
		"payouts_enabled": "Whether the payment processor pays out to the account's owner",
		"requirements":    "What the payment processor still requires of the account's owner",
	}
}

type connectRequirements struct {
	CurrentlyDue        []string   `json:"currently_due" doc:"Required of the owner, in the payment processor's terms"`
	PastDue             []string   `json:"past_due" doc:"Missing information that disables a capability"`
	PendingVerification []string   `json:"pending_verification" doc:"Information under review by the payment processor"`
	DeadlineAt          *wire.Time `json:"deadline_at" format:"date-time" doc:"When currently_due must be met, or null"`
	DisabledReason      *string    `json:"disabled_reason" doc:"Why charges or payouts are disabled; null if enabled"`
}

// readConnect returns the stored state without calling the payment processor. Its events update the row, and a job
// reads the account every 15 minutes.
func (a *App) readConnect(ctx context.Context, _ *struct{}) (*connectStateOut, error) {
	rights, err := a.Plans.Of(ctx, httpx.Who(ctx).Org)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*connectStateOut, error) {
		c, err := connect.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		out := showConnect(c, rights)
		out.Body.FeePercent = plans.Percent(a.Plans.ConnectFee(&rights.Rights))
		return out, nil
	})
}

func showConnect(c *connect.Account, rights *plans.Entitlements) *connectStateOut {
	out := &connectStateOut{Tagged: httpx.ETag(c.Version, rights.Version), Body: connectState{
		Status: c.State, CanSell: c.State == connect.Enabled && rights.Has(plans.WhiteLabeling),
		AccountID:      stringOrNil(c.ID),
		ChargesEnabled: c.Charges, PayoutsEnabled: c.Payouts,
		Requirements: connectRequirements{
			CurrentlyDue: emptyIfNil(c.Due), PastDue: emptyIfNil(c.PastDue), PendingVerification: emptyIfNil(c.Pending),
			DisabledReason: stringOrNil(c.Disabled),
		},
	}}
	if c.Deadline != nil {
		at := wire.At(*c.Deadline)
		out.Body.Requirements.DeadlineAt = &at
	}
	if !c.Since.IsZero() {
		at := wire.At(c.Since)
		out.Body.StatusSince = &at
	}

	return out
}

// emptyIfNil returns all, or an empty slice instead of nil.
func emptyIfNil(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}
