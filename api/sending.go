package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
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
		Title: "Change the sending settings",
	}, a.putSending)
}

type sendingOut struct {
	httpx.Tagged
	Body orgsending.Settings
}

func showSending(s *orgsending.Settings) *sendingOut {
	return &sendingOut{Tagged: httpx.ETag(s.Edit, 0), Body: *s}
}

func (a *App) getSending(ctx context.Context, _ *struct{}) (*sendingOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*sendingOut, error) {
		s, err := orgsending.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return showSending(s), nil
	})
}

// updateSendingRequest has the members that may change, and the read-only members which a caller may send back
// unchanged.
type updateSendingRequest struct {
	PostalAddress    httpx.Optional[string]        `json:"postal_address" required:"false"`
	DefaultPurpose   httpx.Optional[string]        `json:"default_purpose" required:"false"`
	DailyCap         httpx.Optional[int]           `json:"daily_cap" required:"false"`
	DomainDailyCap   httpx.Optional[int]           `json:"domain_daily_cap" required:"false"`
	BlockedCountries httpx.Optional[[]string]      `json:"blocked_countries" required:"false"`
	StopOn           httpx.Optional[stopPatch]     `json:"stop_on" required:"false"`
	Tracking         httpx.Optional[trackingPatch] `json:"tracking" required:"false"`

	UpdatedAt httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (updateSendingRequest) Descriptions() map[string]string {
	return map[string]string{
		"postal_address":    "Address by post that automated mail names, up to 500 characters; null: none",
		"default_purpose":   "Purpose of an email that names none",
		"daily_cap":         "Most mails of all mailboxes together in any 24 hours, 1 to 1000000; null: no limit",
		"domain_daily_cap":  "Most automated mails to one company's domain in any 24 hours, 1 to 10000; null: no limit",
		"blocked_countries": "Countries whose contacts get no automated mail, as ISO 3166-1 alpha-2; null: none",
		"stop_on":           "What stops a sequence for a contact. Merged per member; null: reply and deal_won",
		"tracking":          "What is tracked of the mail of new mailboxes. Merged per member; null: nothing",
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
}

func (b *updateSendingRequest) patch() *orgsending.Patch {
	p := &orgsending.Patch{
		PostalAddress: b.PostalAddress.Field, DefaultPurpose: b.DefaultPurpose.Field, DailyCap: b.DailyCap.Field,
		DomainDailyCap: b.DomainDailyCap.Field, BlockedCountries: b.BlockedCountries.Field,
		StopOn: converted(b.StopOn, func(s stopPatch) orgsending.StopPatch {
			return orgsending.StopPatch{
				Reply: s.Reply.Field, CompanyReply: s.CompanyReply.Field, DealWon: s.DealWon.Field,
			}
		}),
		Tracking: converted(b.Tracking, func(t trackingPatch) orgsending.TrackingPatch {
			return orgsending.TrackingPatch{Opens: t.Opens.Field, Clicks: t.Clicks.Field}
		}),
	}
	p.Refuse("updated_at", json.RawMessage(b.UpdatedAt))
	return p
}

type putSendingIn struct {
	httpx.IfMatch
	Body updateSendingRequest
}

func (a *App) putSending(ctx context.Context, in *putSendingIn) (*sendingOut, error) {
	p := in.Body.patch()
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*sendingOut, error) {
		s, changed, err := orgsending.Update(ctx, tx, p, in.Check)
		if err != nil {
			return nil, err
		}
		if len(changed) > 0 {
			auditSending(ctx, tx, "org_sending.updated", map[string]any{"changed": changed})
		}
		return showSending(s), nil
	})
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
