package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const domainPath = "/white-label/domain"

// verifyRate limits how often an org may trigger a DNS check.
var verifyRate = limits.PerMinute(10)

// domainOut is an org's custom domain.
type domainOut struct{ Body customDomain }

type customDomain struct {
	Domain     string                      `json:"domain" doc:"Lower case, punycode"`
	Status     branding.Status             `json:"status" enum:"pending_dns,verified,active,degraded,suspended"`
	Records    []branding.DNSRecord        `json:"records"`
	LastError  httpx.Nullable[domainError] `json:"last_error" doc:"The error of the last check; null if there was none"`
	CheckedAt  *wire.Time                  `json:"checked_at" format:"date-time" nullable:"true" doc:"The last check"`
	VerifiedAt *wire.Time                  `json:"verified_at" format:"date-time" nullable:"true"`
	ExpiresAt  *wire.Time                  `json:"expires_at" format:"date-time" nullable:"true"`
	CreatedAt  wire.Time                   `json:"created_at" format:"date-time" doc:"When the domain was claimed"`
}

// Descriptions implements wire.Describer.
func (customDomain) Descriptions() map[string]string {
	return map[string]string{
		"verified_at": "When the TXT record was first found",
		"status": "pending_dns: no TXT record found; verified: found, but the host does not point here yet; " +
			"active: it does; degraded: a record is gone, and the domain is served for three more days; suspended: " +
			"not served",
		"records": "Set all of them at the domain's DNS provider. At a zone apex, which cannot have a CNAME, use " +
			"the provider's ALIAS or flattening, or addresses",
		"expires_at": "When a claim without its TXT record expires; null once found",
	}
}

type domainError struct {
	Code   branding.Reason `json:"code" doc:"What the last check found wrong"`
	Detail string          `json:"detail" doc:"What is wrong and which record to set, for people"`
}

// TransformSchema adds the codes to the schema.
func (domainError) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, c := range []branding.Reason{
		branding.TXTMissing, branding.TXTWrong, branding.CNAMEMissing, branding.CNAMEWrong, branding.Disagree,
		branding.Unreachable, branding.Taken, branding.NoFeature,
	} {
		s.Properties["code"].Enum = append(s.Properties["code"].Enum, string(c))
	}
	return s
}

func (a *App) mountDomains() {
	verify := []string{events.DomainVerified{}.Type(), events.DomainDegraded{}.Type()}
	feature := plans.CustomDomain
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "domain.get",
			Method: http.MethodGet,
			Path:   domainPath,
			Need:   httpx.Viewer,
			Tag:    brandTag,
			Title:  "Get the custom domain",
			May:    []int{http.StatusPaymentRequired, http.StatusNotFound},
		},
		a.getDomain,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "domain.claim",
			Method: http.MethodPut, Path: domainPath, Need: httpx.Admin, Tag: brandTag, Title: "Claim a custom domain",
			Feature: feature,
		}, a.putDomain)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "domain.verify",
			Method: http.MethodPost, Path: domainPath + "/verify", Need: httpx.Admin, Tag: brandTag,
			Title: "Check the custom domain's DNS records now", Feature: feature, Writes: verify,
		}, a.verifyDomain)
	// Removal requires no feature, so that a domain can be removed after a downgrade.
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "domain.remove",
			Method: http.MethodDelete,
			Path:   domainPath,
			Need:   httpx.Admin,
			Tag:    brandTag,
			Title:  "Remove the custom domain",
			Status: http.StatusNoContent,
		}, a.deleteDomain)
}

func (a *App) showDomain(d *branding.Domain) *domainOut {
	b := customDomain{
		Domain: d.Host, Status: d.Status, Records: a.Domains.Records(d), CheckedAt: wireTime(d.CheckedAt),
		VerifiedAt: wireTime(d.ProvenAt), CreatedAt: wire.At(d.ClaimedAt),
	}
	if d.Reason != "" {
		b.LastError.Value = &domainError{Code: d.Reason, Detail: domainTrouble[d.Reason]}
	}
	if d.Status == branding.PendingDNS {
		ends := wire.At(d.ClaimedAt.Add(branding.ClaimLife))
		b.ExpiresAt = &ends
	}

	return &domainOut{b}
}

// wireTime returns a time in its wire form, or nil if t is nil.
func wireTime(t *time.Time) *wire.Time {
	if t == nil {
		return nil
	}
	at := wire.At(*t)
	return &at
}

// domainTrouble maps a reason to a description of the problem and its remedy.
var domainTrouble = map[branding.Reason]string{
	branding.TXTMissing: "The TXT record has not been found. A new record may take as long to be seen as the old " +
		"one was to be kept.",
	branding.TXTWrong:     "A TXT record stands in its place, with another value.",
	branding.CNAMEMissing: "The domain leads nowhere: its CNAME record has not been found.",
	branding.CNAMEWrong: "The domain leads elsewhere. If a CDN stands before it, switch its proxying off for " +
		"this name.",
	branding.Disagree: "Not every name server has the records yet. This passes by itself.",
	branding.Unreachable: "The name servers could not be asked. This says nothing about the records; they are " +
		"asked again.",
	branding.Taken:     "The record is right, but another organization has this domain and proves it.",
	branding.NoFeature: "The plan does not hold custom domains.",
}

func errNoDomain() error {
	return fault.New(fault.NotFound, "There is no custom domain. PUT /white-label/domain claims one.")
}

// getDomain requires no feature: it also shows a suspended domain, with the reason.
func (a *App) getDomain(ctx context.Context, _ *struct{}) (*domainOut, error) {
	out, err := httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*domainOut, error) {
		d, err := a.Domains.Get(ctx, tx, branding.Pages)
		if err != nil || d == nil {
			return nil, err
		}
		return a.showDomain(d), nil
	})
	if err == nil && out == nil {
		if err = a.Plans.Need(ctx, httpx.Who(ctx).Org, plans.CustomDomain); err == nil {
			err = errNoDomain()
		}
	}

	return out, err
}

type claimDomainIn struct {
	Body struct {
		Domain string `json:"domain" maxLength:"300" doc:"Such as crm.example.com; no public suffix or platform domain"`
	}
}

func (a *App) putDomain(ctx context.Context, in *claimDomainIn) (*domainOut, error) {
	host, err := a.Domains.Host(in.Body.Domain)
	if err == nil {
		err = a.Domains.Held(ctx, host, httpx.Who(ctx).Org)
	}
	if err != nil {
		return nil, err
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*domainOut, error) {
		d, err := a.Domains.Claim(ctx, tx, branding.Pages, host)
		if err != nil {
			return nil, err
		}
		return a.showDomain(d), nil
	})
}

// verifyDomain checks the DNS while the caller waits, for at most seven seconds, and returns the result. A caller who
// has just set a record wants to see it at once. A job repeats the checks that did not finish in that time.
func (a *App) verifyDomain(ctx context.Context, _ *struct{}) (*domainOut, error) {
	if err := a.mayAskDNS(ctx); err != nil {
		return nil, err
	}
	if out, err := findStoredResponse[domainOut](ctx, a); out != nil || err != nil {
		return out, err
	}

	var d *branding.Domain
	err := a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		d, err = a.Domains.Get(ctx, tx, branding.Pages)
		return err
	})
	if err == nil && d == nil {
		err = errNoDomain()
	}
	if err != nil {
		return nil, err
	}

	look := a.Domains.CheckDNS(ctx, d)

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*domainOut, error) {
		d, err := a.Domains.Apply(ctx, tx, d.ID, look, true) // the route has checked the feature
		if err == nil && d == nil {
			err = errNoDomain()
		}
		if err != nil {
			return nil, err
		}
		return a.showDomain(d), nil
	})
}

// mayAskDNS limits how often an org makes the platform ask name servers.
func (a *App) mayAskDNS(ctx context.Context) error {
	if a.Limits == nil {
		return nil
	}

	d := a.Limits.Take(ctx, "domain "+httpx.Who(ctx).Org.String(), verifyRate)
	if d.Allowed {
		return nil
	}

	return &fault.Fault{
		Code:       fault.RateLimited,
		Detail:     "The records were checked too often. Wait as long as Retry-After says.",
		RetryAfter: d.RetryAfter(),
	}
}

func (a *App) deleteDomain(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		return &struct{}{}, a.Domains.Remove(ctx, tx, branding.Pages)
	})
}
