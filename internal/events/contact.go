package events

import (
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Contact is a person, as the API and the webhooks show them.
type Contact struct {
	ID         id.ID          `json:"id" format:"uuid" doc:"ID of the contact"`
	Email      string         `json:"email" doc:"Address as it was sent; compared case-folded"`
	FirstName  string         `json:"first_name" doc:"First name, 1 to 200 characters"`
	LastName   string         `json:"last_name" doc:"Last name, 1 to 200 characters"`
	Phone      *string        `json:"phone" doc:"Phone number as it was sent, blanks collapsed; null: none"`
	JobTitle   *string        `json:"job_title" doc:"Job title; null: none"`
	Source     *string        `json:"source" doc:"Where the contact came from, free text; null: unknown"`
	TimeZone   *string        `json:"time_zone" doc:"IANA name, such as Europe/Berlin; null: unknown"`
	Country    *string        `json:"country" doc:"Code of ISO 3166-1 alpha-2, such as DE; null: unknown"`
	Consent    *Consent       `json:"consent"`
	CompanyID  *id.ID         `json:"company_id" format:"uuid" nullable:"true"`
	Stage      string         `json:"stage" doc:"One of the organization's stages, such as lead or customer"`
	Tag        []string       `json:"tag" doc:"Tags of the contact, without duplicates"`
	Segment    []string       `json:"segment" doc:"Keys of the static and dynamic segments that the contact is in"`
	Attributes map[string]any `json:"attributes"`

	ExternalIDs externalid.IDs `json:"external_ids"`

	LeadScore  float64      `json:"lead_score" doc:"100 x the model's probability, two decimals"`
	Score      ContactScore `json:"score" doc:"Where lead_score comes from"`
	OwnerID    *id.ID       `json:"owner_id" format:"uuid" nullable:"true"`
	CreatedAt  wire.Time    `json:"created_at" format:"date-time"`
	UpdatedAt  wire.Time    `json:"updated_at" format:"date-time"`
	ArchivedAt *wire.Time   `json:"archived_at" format:"date-time"`

	// Engagement is what the scorer has seen of the contact's clicks and replies; internal.
	Engagement []float64 `json:"-"`
}

// Descriptions implements wire.Describer.
func (Contact) Descriptions() map[string]string {
	return map[string]string{
		"consent":      "The legal basis on which the contact is written to; null: none was given",
		"company_id":   "The contact's company; it may name one that does not exist yet; null: none",
		"external_ids": externalIDsText,
		"attributes":   "Values of custom fields by key: string, number, boolean or date (YYYY-MM-DD)",
		"owner_id":     "User who owns the contact; null: nobody",
		"created_at":   "When the contact was created, or the time that an import gave",
		"updated_at":   "When the contact was last edited; scoring and dynamic segments do not change it",
		"archived_at":  "When the contact was archived; null: it is live",
	}
}

// externalIDsText describes the member external_ids of every record.
const externalIDsText = "The record's ids in other systems, by system; no two live records of a kind share one"

// Consent is the legal basis on which an org writes to a contact.
type Consent struct {
	Basis       string     `json:"basis"`
	Source      *string    `json:"source" doc:"Where it was given, such as a form; null: unknown"`
	At          wire.Time  `json:"at" format:"date-time" doc:"When it was given"`
	Text        *string    `json:"text" doc:"The words that the contact agreed to; null: unknown"`
	ConfirmedAt *wire.Time `json:"confirmed_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Consent) Descriptions() map[string]string {
	return map[string]string{
		"basis":        "The legal basis, such as consent, legitimate_interest or contract",
		"confirmed_at": "When the contact confirmed it by the link of a mail (double opt-in); null: not confirmed",
	}
}

// ContactScore is the origin of lead_score: the probability and the model.
type ContactScore struct {
	Probability  float64 `json:"probability" doc:"Probability that the contact's deal is won, 0 to 1"`
	Confidence   string  `json:"confidence" enum:"prior,learning,learned"`
	ModelVersion string  `json:"model_version" doc:"Version of the model that computed the score"`
}

// Descriptions implements wire.Describer.
func (ContactScore) Descriptions() map[string]string {
	return map[string]string{
		"confidence": "prior: the shipped model; learning: the org's outcomes adjust it; learned: they dominate",
	}
}
