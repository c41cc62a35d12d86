package events

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The objects of the catalogue. Objects of reserved types grow with the operation that will emit them.

// Member is a user who belongs to an org.
type Member struct {
	ID        id.ID     `json:"id" format:"uuid" doc:"the user's id"`
	Email     string    `json:"email"`
	FirstName string    `json:"first_name"`
	LastName  string    `json:"last_name"`
	Role      string    `json:"role" enum:"viewer,member,admin,owner"`
	CreatedAt wire.Time `json:"created_at" format:"date-time" doc:"when the membership began"`
}

// Organization holds an org's name and settings.
type Organization struct {
	ID        id.ID          `json:"id" format:"uuid"`
	Name      string         `json:"name"`
	Settings  map[string]any `json:"settings"`
	CreatedAt wire.Time      `json:"created_at" format:"date-time"`
	UpdatedAt wire.Time      `json:"updated_at" format:"date-time"`
}

// Endpoint is a webhook endpoint without its secret.
type Endpoint struct {
	ID             id.ID      `json:"id" format:"uuid"`
	URL            string     `json:"url"`
	Events         []string   `json:"events" doc:"event types, or * for all"`
	Description    string     `json:"description"`
	RateLimit      *int       `json:"rate_limit" doc:"deliveries per second; null if the endpoint has no limit"`
	Enabled        bool       `json:"enabled"`
	DisabledReason *string    `json:"disabled_reason" doc:"why the platform disabled it: gone or failing; else null"`
	CreatedAt      wire.Time  `json:"created_at" format:"date-time"`
	UpdatedAt      wire.Time  `json:"updated_at" format:"date-time"`
	ArchivedAt     *wire.Time `json:"archived_at" format:"date-time"`
}

// Purge is the record of an erased contact.
type Purge struct {
	ID id.ID `json:"id" format:"uuid"`
}

// Merge is a survivor and the contacts that were merged into it.
type Merge struct {
	ID       id.ID   `json:"id" format:"uuid" doc:"the survivor"`
	LoserIDs []id.ID `json:"loser_ids"`
}

// Tagging is a change to one contact's tags.
type Tagging struct {
	ContactID id.ID    `json:"contact_id" format:"uuid"`
	Added     []string `json:"added"`
	Removed   []string `json:"removed"`
}

// Email is one message to or from a contact.
type Email struct {
	ID         id.ID   `json:"id" format:"uuid"`
	ContactID  *id.ID  `json:"contact_id" format:"uuid"`
	MailboxID  id.ID   `json:"mailbox_id" format:"uuid"`
	Subject    string  `json:"subject"`
	URL        *string `json:"url" doc:"the link that was clicked"`
	Machine    bool    `json:"machine" doc:"loaded by a proxy or scanner, not by a person"`
	BounceKind *string `json:"bounce_kind" enum:"hard,soft"`
	Code       *string `json:"code" doc:"the server's status code for a bounce or failure"`
}

// Sequence is an automated outreach.
type Sequence struct {
	ID     id.ID   `json:"id" format:"uuid"`
	Name   string  `json:"name"`
	Status string  `json:"status" enum:"draft,active,paused,archived"`
	Reason *string `json:"reason"`
}

// Enrolment is the progress of one contact through a sequence.
type Enrolment struct {
	ID         id.ID   `json:"id" format:"uuid"`
	SequenceID id.ID   `json:"sequence_id" format:"uuid"`
	ContactID  id.ID   `json:"contact_id" format:"uuid"`
	Status     string  `json:"status"`
	Step       int     `json:"step"`
	Reason     *string `json:"reason"`
	Outcome    *string `json:"outcome"`
}

// Membership is a contact that entered or left a segment.
type Membership struct {
	SegmentID id.ID  `json:"segment_id" format:"uuid"`
	Segment   string `json:"segment" doc:"the segment's key"`
	ContactID id.ID  `json:"contact_id" format:"uuid"`
}

// Import is a completed or failed import.
type Import struct {
	ID            id.ID   `json:"id" format:"uuid"`
	Status        string  `json:"status" enum:"completed,failed"`
	DryRun        bool    `json:"dry_run" doc:"nothing was written"`
	RowsTotal     int     `json:"rows_total"`
	RowsCreated   int     `json:"rows_created"`
	RowsUpdated   int     `json:"rows_updated"`
	RowsUnchanged int     `json:"rows_unchanged"`
	RowsFailed    int     `json:"rows_failed"`
	RowsRepeated  int     `json:"rows_repeated" doc:"successful rows about a contact that an earlier row was about"`
	ErrorsURL     *string `json:"errors_url" doc:"signed link to the failed rows; the import has a fresh one"`
}

// Export is a completed or failed export.
type Export struct {
	ID          id.ID   `json:"id" format:"uuid"`
	Status      string  `json:"status" enum:"completed,failed"`
	Rows        int     `json:"rows"`
	DownloadURL *string `json:"download_url" doc:"signed link to the file; the export has a newer one; null: failed"`
}

// ScoreModel is a promoted scoring model.
type ScoreModel struct {
	Version    string             `json:"version"`
	Confidence string             `json:"confidence" enum:"prior,learning,learned"`
	Metrics    map[string]float64 `json:"metrics"`
}

// Plan is an org's plan after a change.
type Plan struct {
	Plan        string    `json:"plan"`
	Interval    *string   `json:"interval" enum:"month,year"`
	Status      string    `json:"status"`
	EffectiveAt wire.Time `json:"effective_at" format:"date-time"`
}

// Quota is the used part of a limit.
type Quota struct {
	Kind    string `json:"kind"`
	Percent int    `json:"percent"`
	Used    int64  `json:"used"`
	Limit   int64  `json:"limit"`
}

// SocialAccount is a connected social or ad account, as the API and the webhooks show it. It never contains a token.
type SocialAccount struct {
	ID                id.ID      `json:"id" format:"uuid"`
	OrgID             id.ID      `json:"org_id" format:"uuid"`
	Platform          string     `json:"platform"`
	ExternalAccountID string     `json:"external_account_id" doc:"The account's id on the social platform"`
	DisplayName       string     `json:"display_name"`
	AvatarURL         *string    `json:"avatar_url"`
	Status            string     `json:"status" enum:"active,expiring,reauth_required,revoked"`
	ConnectedAt       wire.Time  `json:"connected_at" format:"date-time"`
	TokenExpiresAt    *wire.Time `json:"token_expires_at" format:"date-time" doc:"Token's expiry; it is renewed before"`
}

// Descriptions implements wire.Describer.
func (SocialAccount) Descriptions() map[string]string {
	return map[string]string{
		"status": "reauth_required: a user must connect it again; revoked: disconnected",
	}
}

// Brand holds a reseller's branding settings.
type Brand struct {
	BrandName    *string     `json:"brand_name" doc:"null for the platform's default"`
	Colors       BrandColors `json:"colors"`
	HideBrand    bool        `json:"hide_brand" doc:"hide the platform's name, if the plan allows it"`
	SupportEmail *string     `json:"support_email" doc:"support page for users"`
	Logo         *BrandLogo  `json:"logo"`
}

// BrandColors holds colours, each as #rrggbb.
type BrandColors struct {
	Primary    string `json:"primary" doc:"#rrggbb"`
	Accent     string `json:"accent" doc:"#rrggbb"`
	Background string `json:"background" doc:"#rrggbb"`
	Text       string `json:"text" doc:"#rrggbb"`
}

// BrandLogo is a logo as it is served.
type BrandLogo struct {
	URL         string `json:"url" doc:"public; changes with the logo"`
	ContentType string `json:"content_type" doc:"image/png, image/jpeg or image/svg+xml"`
	Width       int    `json:"width" doc:"in pixels; for an SVG, the size of its view box"`
	Height      int    `json:"height"`
}

// Domain is a custom domain.
type Domain struct {
	Domain string  `json:"domain" doc:"lower case, punycode"`
	Status string  `json:"status" doc:"verified: proven; active: points here; degraded: record missing, still served"`
	Reason *string `json:"reason" doc:"problem code; null if there is none"`
}

// Connect is the state of the connected payment account.
type Connect struct {
	Status         string   `json:"status" doc:"the new state"`
	ChargesEnabled bool     `json:"charges_enabled"`
	PayoutsEnabled bool     `json:"payouts_enabled"`
	Requirements   []string `json:"requirements" doc:"what the payment processor requires from the account's owner"`
}
