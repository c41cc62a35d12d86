package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const (
	sendingPath = "/api/v1/org/sending"
	sendingTag  = "Sending settings"
)

func (a *App) mountSending() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "org_sending.get",
		Method: http.MethodGet, Path: sendingPath, Need: httpx.Viewer, Tag: sendingTag,
		Title: "Get the sending settings",
	}, a.getSending)
	httpx.Route(a.Server, httpx.Op{
		ID:     "org_sending.update",
		Method: http.MethodPut, Path: sendingPath, Need: httpx.Admin, Tag: sendingTag,
		Title: "Change the sending settings", May: []int{http.StatusPaymentRequired},
	}, a.putSending)
	a.mountSendingDomains()
}

// sendingSettings is the sending settings with the DNS records that they need.
type sendingSettings struct {
	orgsending.Settings
	TrackingStatus  *string                    `json:"tracking_domain_status" nullable:"true"`
	TrackingRecords []orgsending.SendingRecord `json:"tracking_domain_records"`
	Domains         []orgsending.SendingDomain `json:"domains" doc:"Domains that mail comes from, by name"`
}

// Descriptions implements wire.Describer.
func (sendingSettings) Descriptions() map[string]string {
	all := orgsending.Settings{}.Descriptions()
	all["tracking_domain_status"] = "State of the tracking domain, as of a custom domain; null: none, or its claim " +
		"has expired. Links have the domain while it is active or degraded"
	all["tracking_domain_records"] = "What to set at the tracking domain's DNS provider"
	return all
}

type sendingOut struct {
	httpx.Tagged
	Body sendingSettings
}

// showSending returns the answer with the settings.
func (a *App) showSending(ctx context.Context, tx *postgres.Tx, s *orgsending.Settings) (*sendingOut, error) {
	out := &sendingOut{Body: sendingSettings{
		Settings: *s, TrackingRecords: []orgsending.SendingRecord{}, Domains: []orgsending.SendingDomain{},
	}}
	all, err := orgsending.ListDomains(ctx, tx)
	if err != nil {
		return nil, err
	}

	for _, d := range all {
		out.Body.Domains = append(out.Body.Domains, d.Shown())
	}

	if s.TrackingDomain != nil {
		if err := a.showTracking(ctx, tx, &out.Body); err != nil {
			return nil, err
		}
	}

	tag, err := httpx.Digest(out.Body)
	if err != nil {
		return nil, err
	}

	_, computed, _ := strings.Cut(strings.Trim(tag.ETag, `"`), ".")
	out.ETag = fmt.Sprintf(`"%d.%s"`, s.Edit, computed)

	return out, nil
}

// showTracking adds the state of the tracking domain.
func (a *App) showTracking(ctx context.Context, tx *postgres.Tx, b *sendingSettings) error {
	for _, use := range []branding.Use{branding.Links, branding.Pages} {
		d, err := a.Domains.Get(ctx, tx, use)
		if err != nil {
			return err
		}
		if d == nil || d.Host != *b.TrackingDomain {
			continue
		}

		b.TrackingStatus = (*string)(&d.Status)
		for i, r := range a.Domains.Records(d) {
			b.TrackingRecords = append(b.TrackingRecords, orgsending.SendingRecord{
				Type: r.Type, Name: r.Name, Value: r.Value, Found: d.Found()[i],
			})
		}

		return nil
	}
	return nil
}

func (a *App) getSending(ctx context.Context, _ *struct{}) (*sendingOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*sendingOut, error) {
		s, err := orgsending.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return a.showSending(ctx, tx, s)
	})
}

// updateSendingRequest has the members that may change, and the read-only members which a caller may send back
// unchanged.
type updateSendingRequest struct {
	PostalAddress    httpx.Optional[string]        `json:"postal_address" required:"false"`
	TrackingDomain   httpx.Optional[string]        `json:"tracking_domain" required:"false"`
	DefaultPurpose   httpx.Optional[string]        `json:"default_purpose" required:"false"`
	DailyCap         httpx.Optional[int]           `json:"daily_cap" required:"false"`
	DomainDailyCap   httpx.Optional[int]           `json:"domain_daily_cap" required:"false"`
	BlockedCountries httpx.Optional[[]string]      `json:"blocked_countries" required:"false"`
	StopOn           httpx.Optional[stopPatch]     `json:"stop_on" required:"false"`
	Tracking         httpx.Optional[trackingPatch] `json:"tracking" required:"false"`

	UpdatedAt       httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	TrackingStatus  httpx.RawJSON `json:"tracking_domain_status" required:"false" readOnly:"true"`
	TrackingRecords httpx.RawJSON `json:"tracking_domain_records" required:"false" readOnly:"true"`
	Domains         httpx.RawJSON `json:"domains" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (updateSendingRequest) Descriptions() map[string]string {
	return map[string]string{
		"postal_address": "Address by post that automated mail names, up to 500 characters; null: none",
		"tracking_domain": "Host of the pixels and links in the mail, which needs the feature tracking_domain; null: " +
			"the platform's",
		"default_purpose":   "Purpose of an email that names none",
		"daily_cap":         "Most mails of all mailboxes together in any 24 hours, 1 to 1000000; null: no limit",
		"domain_daily_cap":  "Most automated mails to one company's domain in any 24 hours, 1 to 10000; null: no limit",
		"blocked_countries": "Countries whose contacts get no automated mail, as ISO 3166-1 alpha-2; null: none",
		"stop_on":           "What stops a sequence for a contact. Merged per member; null: reply and deal_won",
		"tracking":          "What is tracked of the mail. Merged per member; null: new mailboxes track nothing",
	}
}

type stopPatch struct {
	Reply        httpx.Optional[bool] `json:"reply" required:"false" doc:"A reply of the contact"`
	CompanyReply httpx.Optional[bool] `json:"company_reply" required:"false"`
	DealWon      httpx.Optional[bool] `json:"deal_won" required:"false" doc:"A won deal of the contact"`
}

// Descriptions implements wire.Describer.
func (stopPatch) Descriptions() map[string]string {
	return map[string]string{"company_reply": "A reply of another contact of the same company"}
}

type trackingPatch struct {
	Opens  httpx.Optional[bool] `json:"opens" required:"false" doc:"Whether opens are counted"`
	Clicks httpx.Optional[bool] `json:"clicks" required:"false" doc:"Whether clicks are counted"`
	Off    httpx.Optional[bool] `json:"off" required:"false" doc:"Whether tracking is off for all mail"`
}

func (b *updateSendingRequest) toPatch() *orgsending.Patch {
	return &orgsending.Patch{
		PostalAddress: b.PostalAddress.Field, TrackingDomain: b.TrackingDomain.Field,
		DefaultPurpose: b.DefaultPurpose.Field, DailyCap: b.DailyCap.Field,
		DomainDailyCap: b.DomainDailyCap.Field, BlockedCountries: b.BlockedCountries.Field,
		StopOn: convertField(b.StopOn, func(s stopPatch) orgsending.StopPatch {
			return orgsending.StopPatch{
				Reply: s.Reply.Field, CompanyReply: s.CompanyReply.Field, DealWon: s.DealWon.Field,
			}
		}),
		Tracking: convertField(b.Tracking, func(t trackingPatch) orgsending.TrackingPatch {
			return orgsending.TrackingPatch{Opens: t.Opens.Field, Clicks: t.Clicks.Field, Off: t.Off.Field}
		}),
	}
}

type putSendingIn struct {
	httpx.IfMatch
	Body updateSendingRequest
}

func (a *App) putSending(ctx context.Context, in *putSendingIn) (*sendingOut, error) {
	p := in.Body.toPatch()
	if err := a.checkTracking(ctx, p); err != nil {
		return nil, err
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sendingOut, error) {
		var now *sendingOut
		s, changed, err := orgsending.Update(ctx, tx, p, func(s *orgsending.Settings) (err error) {
			if now, err = a.showSending(ctx, tx, s); err == nil {
				err = in.Check(int64(s.Edit))
			}
			if err != nil {
				return err
			}
			return httpx.CheckUnchangedJSON(now.Body, map[string]httpx.RawJSON{
				"updated_at": in.Body.UpdatedAt, "tracking_domain_status": in.Body.TrackingStatus,
				"tracking_domain_records": in.Body.TrackingRecords, "domains": in.Body.Domains,
			})
		})
		if err != nil {
			return nil, err
		}
		if err := a.claimTracking(ctx, tx, p.TrackingDomain); err != nil {
			return nil, err
		}
		if len(changed) > 0 {
			auditSending(ctx, tx, "org_sending.updated", map[string]any{"changed": changed})
		}

		return a.showSending(ctx, tx, s)
	})
}

// checkTracking normalises the tracking domain of a patch. A new one needs the feature, and a host that no other org
// has.
func (a *App) checkTracking(ctx context.Context, p *orgsending.Patch) error {
	t := &p.TrackingDomain
	if !t.Set || t.Null {
		return nil
	}

	home := httpx.Who(ctx).Org
	var was *orgsending.Settings
	if err := a.DB.ReadTx(ctx, home, func(tx *postgres.Tx) (err error) {
		was, err = orgsending.Read(ctx, tx)
		return err
	}); err != nil {
		return err
	}
	if was.TrackingDomain != nil && *was.TrackingDomain == t.Value {
		return nil
	}

	err := a.Plans.Need(ctx, home, plans.TrackingDomain)
	if err == nil {
		t.Value, err = a.Domains.Host(t.Value)
	}
	if err == nil {
		err = a.Domains.Held(ctx, t.Value, home)
	}
	if f := fault.Of(err); f != nil && len(f.Fields) == 1 {
		f.Fields[0].Pointer = "#/tracking_domain"
	}

	return err
}

// claimTracking claims the host of the links, unless it is the host of the org's pages already.
func (a *App) claimTracking(ctx context.Context, tx *postgres.Tx, host wire.Field[string]) error {
	if !host.Set {
		return nil
	}

	pages, err := a.Domains.Get(ctx, tx, branding.Pages)
	if err != nil {
		return err
	}
	if host.Null || pages != nil && pages.Host == host.Value {
		return a.Domains.Remove(ctx, tx, branding.Links)
	}

	_, err = a.Domains.Claim(ctx, tx, branding.Links, host.Value)
	return err
}

func auditSending(ctx context.Context, tx *postgres.Tx, action string, detail map[string]any) {
	org.Audit(ctx, tx, org.Entry{Action: action, Target: "org_sending", ID: tx.Org().String(), Detail: detail})
}

// trackByDefault completes the patch of a new mailbox with what the org tracks.
func trackByDefault(ctx context.Context, tx *postgres.Tx, p *mailboxes.Patch) error {
	s, err := orgsending.Read(ctx, tx)
	if err != nil || p.Tracking.Null {
		return err
	}

	p.Tracking.Set = true
	for _, one := range []struct {
		at *wire.Field[bool]
		is bool
	}{{&p.Tracking.Value.Opens, s.Tracking.Opens}, {&p.Tracking.Value.Clicks, s.Tracking.Clicks}} {
		if !one.at.Set {
			*one.at = wire.Some(one.is)
		}
	}

	return nil
}
