package events

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The objects of the catalogue. Objects of reserved types grow with the operation that will emit them.

// Member is a user who belongs to an org.
type Member struct {
	ID        id.ID     `json:"id" format:"uuid" doc:"ID of the user, or of the invitation until it is accepted"`
	Email     string    `json:"email" doc:"Address with which the user logs in"`
	FirstName string    `json:"first_name" doc:"First name; may be empty"`
	LastName  string    `json:"last_name" doc:"Last name; may be empty"`
	Role      string    `json:"role" enum:"viewer,member,admin,owner" doc:"The user's role in the organization"`
	CreatedAt wire.Time `json:"created_at" format:"date-time" doc:"When the membership or invitation began"`
}

// Organization holds an org's name and settings.
type Organization struct {
	ID        id.ID          `json:"id" format:"uuid" doc:"ID of the organization"`
	Name      string         `json:"name" doc:"Name of the organization"`
	Settings  map[string]any `json:"settings" doc:"Settings: stages, time_zone and members of your own"`
	CreatedAt wire.Time      `json:"created_at" format:"date-time" doc:"When the organization was created"`
	UpdatedAt wire.Time      `json:"updated_at" format:"date-time" doc:"When its name or settings were last changed"`
}

// Webhook is a webhook endpoint without its secret.
type Webhook struct {
	ID             id.ID      `json:"id" format:"uuid" doc:"ID of the webhook"`
	URL            string     `json:"url" doc:"Address to which events are sent"`
	Events         []string   `json:"events" doc:"Event types, or * alone for all"`
	Description    string     `json:"description" doc:"Free text, up to 500 characters; may be empty"`
	RateLimit      *int       `json:"rate_limit" doc:"Deliveries per second; null: no limit"`
	Enabled        bool       `json:"enabled" doc:"Whether events are delivered"`
	DisabledReason *string    `json:"disabled_reason" doc:"Why the service disabled it: gone or failing; else null"`
	CreatedAt      wire.Time  `json:"created_at" format:"date-time" doc:"When the webhook was created"`
	UpdatedAt      wire.Time  `json:"updated_at" format:"date-time" doc:"When the webhook was last edited or disabled"`
	ArchivedAt     *wire.Time `json:"archived_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Webhook) Descriptions() map[string]string {
	return map[string]string{
		"archived_at": "When the webhook was archived; null: it is live",
	}
}

// Purge is the record of an erased contact.
type Purge struct {
	ID id.ID `json:"id" format:"uuid" doc:"ID of the erased contact"`
}

// Merge is a survivor and the contacts that were merged into it.
type Merge struct {
	ID       id.ID   `json:"id" format:"uuid" doc:"the survivor"`
	LoserIDs []id.ID `json:"loser_ids" doc:"The contacts that were merged into it and archived"`
}

// Tagging is a change to one contact's tags.
type Tagging struct {
	ContactID id.ID    `json:"contact_id" format:"uuid" doc:"ID of the contact"`
	Added     []string `json:"added" doc:"Tags that the contact got"`
	Removed   []string `json:"removed" doc:"Tags that the contact lost"`
}

// Email is one message to or from a contact.
type Email struct {
	ID           id.ID           `json:"id" format:"uuid" doc:"ID of the message"`
	ContactID    *id.ID          `json:"contact_id" format:"uuid" doc:"ID of the contact; null: the address is unknown"`
	MailboxID    id.ID           `json:"mailbox_id" format:"uuid" doc:"Mailbox that sent or received the message"`
	Subject      string          `json:"subject" doc:"Subject of the message"`
	URL          *string         `json:"url" doc:"the link that was clicked"`
	Machine      bool            `json:"machine" doc:"loaded by a proxy or scanner, not by a person"`
	BounceKind   *string         `json:"bounce_kind" enum:"hard,soft"`
	Code         *string         `json:"code" doc:"the server's status code for a bounce or failure"`
	MessageID    *string         `json:"message_id" doc:"Message-ID without angle brackets; null: the message has none"`
	ThreadID     *id.ID          `json:"thread_id" format:"uuid" doc:"Thread of the message; null: none"`
	EnrolmentID  *id.ID          `json:"enrolment_id" format:"uuid" doc:"Enrolment that sent it; null: none did"`
	SequenceID   *id.ID          `json:"sequence_id" format:"uuid" doc:"Sequence that sent it; null: none did"`
	Step         *string         `json:"step" doc:"Key of the sequence's step; null: of no sequence"`
	Variant      *string         `json:"variant" doc:"Key of the variant of an A/B test; null: none"`
	BroadcastID  *id.ID          `json:"broadcast_id" format:"uuid" doc:"Broadcast that sent it; null: none did"`
	Purpose      *string         `json:"purpose" enum:"personal,marketing" doc:"Purpose; null: a received message"`
	Status       string          `json:"status" doc:"Status of the email after the event; empty: received"`
	StatusReason *string         `json:"status_reason" doc:"Why it has the status; null: no special reason"`
	Evidence     []EmailEvidence `json:"evidence" doc:"What was found out about an email whose fate was unknown"`
	Why          []string        `json:"why"`
	Class        *string         `json:"class" doc:"Class of the received message; null: none was received"`
	Sure         *bool           `json:"sure" doc:"Whether the class is sure; null: none was received"`
}

// Descriptions implements wire.Describer.
func (Email) Descriptions() map[string]string {
	return map[string]string{
		"bounce_kind": "hard: the address is invalid; soft: a temporary failure; null: no bounce",
		"why": "Signs of a machine: head, agent, proxy, scanner_network, too_soon, many_links, hidden_link or " +
			"two_networks; more may be added",
	}
}

// EmailEvidence is what was found out about an email whose fate was unknown.
type EmailEvidence struct {
	Kind   string    `json:"kind" enum:"sent_folder,person,incoming_mail"`
	Result string    `json:"result" doc:"found or absent of a search; sent or not_sent of a person"`
	At     wire.Time `json:"at" format:"date-time" doc:"When it was found out"`
	By     string    `json:"by" doc:"The person or API key, such as user/<id>; empty for a search"`
}

// Descriptions implements wire.Describer.
func (EmailEvidence) Descriptions() map[string]string {
	return map[string]string{
		"kind": "sent_folder: a search in the mailbox's Sent folder; person: someone resolved it; incoming_mail: an " +
			"answer or a report names the mail",
	}
}

// Sequence is an automated outreach.
type Sequence struct {
	ID     id.ID   `json:"id" format:"uuid" doc:"ID of the sequence"`
	Name   string  `json:"name" doc:"Name of the sequence"`
	Status string  `json:"status" enum:"draft,active,paused,archived" doc:"State of the sequence after the event"`
	Reason *string `json:"reason" doc:"Why it was paused; null otherwise"`
}

// Enrolment is the progress of one contact through a sequence.
type Enrolment struct {
	ID         id.ID   `json:"id" format:"uuid" doc:"ID of the enrolment"`
	SequenceID id.ID   `json:"sequence_id" format:"uuid" doc:"ID of the sequence"`
	ContactID  id.ID   `json:"contact_id" format:"uuid" doc:"ID of the enrolled contact"`
	Status     string  `json:"status" doc:"State of the enrolment after the event"`
	Step       int     `json:"step" doc:"Number of the step, from 1"`
	Reason     *string `json:"reason" doc:"Why the enrolment was stopped; null otherwise"`
	Outcome    *string `json:"outcome" doc:"How the enrolment finished; null otherwise"`
	Version    int     `json:"version" doc:"Version of the sequence that it follows"`
	StepKey    string  `json:"step_key" doc:"Key of the step"`
	MailboxID  *id.ID  `json:"mailbox_id" format:"uuid" doc:"Mailbox that sends its emails"`
}

// Membership is a contact that entered or left a segment.
type Membership struct {
	SegmentID id.ID  `json:"segment_id" format:"uuid" doc:"ID of the segment"`
	Segment   string `json:"segment" doc:"the segment's key"`
	ContactID id.ID  `json:"contact_id" format:"uuid" doc:"ID of the contact that entered or left"`
}

// Import is a completed or failed import.
type Import struct {
	ID            id.ID   `json:"id" format:"uuid" doc:"ID of the import"`
	Status        string  `json:"status" enum:"completed,failed" doc:"How the import ended"`
	DryRun        bool    `json:"dry_run" doc:"nothing was written"`
	RowsTotal     int     `json:"rows_total" doc:"Rows below the header"`
	RowsCreated   int     `json:"rows_created" doc:"Rows that created a contact"`
	RowsUpdated   int     `json:"rows_updated" doc:"Rows that changed a contact"`
	RowsUnchanged int     `json:"rows_unchanged" doc:"Rows whose contact already had these values"`
	RowsFailed    int     `json:"rows_failed" doc:"Rows that were refused; see errors_url"`
	RowsBlank     int     `json:"rows_blank" doc:"rows without a value"`
	RowsRepeated  int     `json:"rows_repeated" doc:"successful rows about a contact that an earlier row was about"`
	WarningsCount int     `json:"warnings_count" doc:"cells that were left out, and other warnings"`
	ErrorsURL     *string `json:"errors_url" doc:"signed link to the failed rows; the import has a fresh one"`
}

// Export is a completed or failed export.
type Export struct {
	ID          id.ID   `json:"id" format:"uuid" doc:"ID of the export"`
	Status      string  `json:"status" enum:"completed,failed" doc:"How the export ended"`
	Rows        int     `json:"rows" doc:"Contacts in the file"`
	DownloadURL *string `json:"download_url" doc:"signed link to the file; the export has a newer one; null: failed"`
}

// ScoreModel is a promoted scoring model.
type ScoreModel struct {
	Version    string             `json:"version" doc:"Name of the version that scores from now on"`
	Confidence string             `json:"confidence" enum:"prior,learning,learned"`
	Metrics    map[string]float64 `json:"metrics"`
}

// Descriptions implements wire.Describer.
func (ScoreModel) Descriptions() map[string]string {
	return map[string]string{
		"confidence": "prior: the shipped model; learning: the org's outcomes adjust it; learned: they dominate",
		"metrics":    "auc, log_loss, brier and ece on outcomes later than the training data",
	}
}

// Plan is an org's plan after a change.
type Plan struct {
	Plan        string    `json:"plan" doc:"Key of the plan in effect"`
	Interval    *string   `json:"interval" enum:"month,year" doc:"Billing interval; null without a paid plan"`
	Status      string    `json:"status" doc:"State of the subscription after the change"`
	EffectiveAt wire.Time `json:"effective_at" format:"date-time" doc:"When the plan took effect"`
}

// Quota is the used part of a limit.
type Quota struct {
	Kind    string `json:"kind" doc:"Feature whose limit it is, such as contacts"`
	Percent int    `json:"percent" doc:"Threshold that was reached, in percent of limit"`
	Used    int64  `json:"used" doc:"Usage when the threshold was reached"`
	Limit   int64  `json:"limit" doc:"Limit of the plan in effect"`
}

// SocialAccount is a connected social or ad account, as the API and the webhooks show it. It never contains a token.
type SocialAccount struct {
	ID                id.ID      `json:"id" format:"uuid" doc:"ID of the connected account"`
	OrgID             id.ID      `json:"org_id" format:"uuid" doc:"Organization that the account belongs to"`
	Platform          string     `json:"platform" doc:"Platform of the account, such as facebook or google_ads"`
	ExternalAccountID string     `json:"external_account_id" doc:"The account's id on the social platform"`
	DisplayName       string     `json:"display_name" doc:"Name of the account on the platform"`
	AvatarURL         *string    `json:"avatar_url" doc:"Picture of the account on the platform; null: none"`
	Status            string     `json:"status" enum:"active,expiring,reauth_required,revoked"`
	ConnectedAt       wire.Time  `json:"connected_at" format:"date-time" doc:"When the account was first connected"`
	TokenExpiresAt    *wire.Time `json:"token_expires_at" format:"date-time" doc:"Token's expiry; it is renewed before"`
	MissingScopes     []string   `json:"missing_scopes" nullable:"false" doc:"Permissions that a user must grant"`
}

// Descriptions implements wire.Describer.
func (SocialAccount) Descriptions() map[string]string {
	return map[string]string{
		"status": "reauth_required: a user must connect it again, see missing_scopes; revoked: disconnected",
	}
}

// Brand holds a reseller's branding settings.
type Brand struct {
	BrandName    *string     `json:"brand_name" doc:"null for the platform's default"`
	Colors       BrandColors `json:"colors" doc:"Colours of the pages"`
	HideBrand    bool        `json:"hide_brand" doc:"hide the platform's name, if the plan allows it"`
	SupportEmail *string     `json:"support_email" doc:"support page for users"`
	Logo         *BrandLogo  `json:"logo" doc:"The logo; null: none"`
}

// BrandColors holds colours, each as #rrggbb.
type BrandColors struct {
	Primary    string `json:"primary" doc:"Fill of buttons, as #rrggbb"`
	Accent     string `json:"accent" doc:"Links and highlights, as #rrggbb"`
	Background string `json:"background" doc:"Background of pages, as #rrggbb"`
	Text       string `json:"text" doc:"Text on the background, as #rrggbb"`
}

// BrandLogo is a logo as it is served.
type BrandLogo struct {
	URL         string `json:"url" doc:"Public address of the logo; changes with the logo"`
	ContentType string `json:"content_type" doc:"image/png, image/jpeg or image/svg+xml"`
	Width       int    `json:"width" doc:"in pixels; for an SVG, the size of its view box"`
	Height      int    `json:"height" doc:"In pixels; for an SVG, the height of its view box"`
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
	ChargesEnabled bool     `json:"charges_enabled" doc:"Whether the account can charge clients"`
	PayoutsEnabled bool     `json:"payouts_enabled" doc:"Whether the payment processor pays out to the account's owner"`
	Requirements   []string `json:"requirements" doc:"what the payment processor requires from the account's owner"`
}
