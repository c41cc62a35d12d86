package api

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ContactFields are the members common to every contact body.
type ContactFields struct {
	Phone     httpx.Optional[string]          `json:"phone" required:"false"`
	JobTitle  httpx.Optional[string]          `json:"job_title" required:"false" doc:"Job title, up to 200 characters"`
	Source    httpx.Optional[string]          `json:"source" required:"false"`
	TimeZone  httpx.Optional[string]          `json:"time_zone" required:"false" doc:"IANA name, such as Europe/Berlin"`
	Country   httpx.Optional[string]          `json:"country" required:"false" doc:"ISO 3166-1 alpha-2, such as DE"`
	Consent   httpx.Optional[ConsentFields]   `json:"consent" required:"false"`
	CompanyID httpx.Optional[string]          `json:"company_id" required:"false" doc:"Any UUID; linked if it exists"`
	OwnerID   httpx.Optional[string]          `json:"owner_id" required:"false" doc:"ID of the owner, a user"`
	Stage     httpx.Optional[string]          `json:"stage" required:"false"`
	Tag       httpx.Optional[httpx.OneOrMore] `json:"tag" required:"false"`
	Segment   httpx.Optional[httpx.OneOrMore] `json:"segment" required:"false"`

	Attributes  httpx.Optional[map[string]any] `json:"attributes" required:"false"`
	ExternalIDs httpx.Optional[map[string]any] `json:"external_ids" required:"false"`

	LeadScore  httpx.RawJSON `json:"lead_score" required:"false" readOnly:"true"`
	Score      httpx.RawJSON `json:"score" required:"false" readOnly:"true"`
	UpdatedAt  httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (ContactFields) Descriptions() map[string]string {
	return map[string]string{
		"tag":     "Up to 50 tags of up to 64 characters without commas; a string is one tag",
		"segment": "Keys of static segments, created if new; replaces the contact's static segments",
		"attributes": "Values of custom fields: string, number, boolean or date (YYYY-MM-DD). The first value " +
			"defines a new key; null removes a value",
		"consent":      "The legal basis on which the contact is written to, merged member by member; null removes it",
		"phone":        "Phone number, up to 50 characters; blanks collapse",
		"external_ids": "Ids in other systems, by system; null removes",
		"source":       "Where the contact came from, up to 200 characters",
		"stage":        "A stage of the organization; default lead",
	}
}

// ConsentFields are the members of a consent in a request.
type ConsentFields struct {
	Basis       httpx.Optional[string] `json:"basis" required:"false"`
	Source      httpx.Optional[string] `json:"source" required:"false" doc:"Where it was given, up to 200 characters"`
	At          httpx.Optional[string] `json:"at" required:"false" doc:"When it was given, RFC 3339; default: now"`
	Text        httpx.Optional[string] `json:"text" required:"false"`
	ConfirmedAt httpx.Optional[string] `json:"confirmed_at" required:"false"`
}

// Descriptions implements wire.Describer.
func (ConsentFields) Descriptions() map[string]string {
	return map[string]string{
		"basis":        "The legal basis, such as consent or legitimate_interest; required for a new consent",
		"text":         "The words that the contact agreed to, up to 2000 characters",
		"confirmed_at": "When the contact confirmed it, RFC 3339; the service sets it on a double opt-in",
	}
}

func (f *ContactFields) consentPatch() wire.Field[contacts.ConsentPatch] {
	c := &f.Consent.Value
	return wire.Field[contacts.ConsentPatch]{
		Set: f.Consent.Set, Null: f.Consent.Null,
		Value: contacts.ConsentPatch{
			Basis: c.Basis.Field, Source: c.Source.Field, At: c.At.Field, Text: c.Text.Field,
			ConfirmedAt: c.ConfirmedAt.Field,
		},
	}
}

// createContactRequest is the body of a create request.
type createContactRequest struct {
	Email     httpx.Optional[string] `json:"email" doc:"Compared case-folded; one live contact per address"`
	FirstName httpx.Optional[string] `json:"first_name" doc:"First name, 1 to 200 characters"`
	LastName  httpx.Optional[string] `json:"last_name" doc:"Last name, 1 to 200 characters"`
	ContactFields
	ID        httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
}

// updateContactRequest is the body of a PATCH request.
type updateContactRequest struct {
	Email     httpx.Optional[string] `json:"email" required:"false"`
	FirstName httpx.Optional[string] `json:"first_name" required:"false"`
	LastName  httpx.Optional[string] `json:"last_name" required:"false" doc:"Last name, 1 to 200 characters; not null"`
	ContactFields
	ID        httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (updateContactRequest) Descriptions() map[string]string {
	return map[string]string{
		"email":      "Stored as sent, compared case-folded; one live contact per address",
		"first_name": "First name, 1 to 200 characters; not null",
	}
}

// contactRow is one row of a batch request.
type contactRow struct {
	ID        httpx.Optional[string] `json:"id" required:"false"`
	Email     httpx.Optional[string] `json:"email" required:"false"`
	FirstName httpx.Optional[string] `json:"first_name" required:"false"`
	LastName  httpx.Optional[string] `json:"last_name" required:"false"`
	ContactFields
	CreatedAt httpx.Optional[string] `json:"created_at" required:"false" doc:"RFC 3339; only for a new contact"`
}

// Descriptions implements wire.Describer.
func (contactRow) Descriptions() map[string]string {
	return map[string]string{
		"id": "Contact to change; if absent, the live one with one of external_ids, else with this email; " +
			"else a new one",
		"email":      "Compared case-folded; identifies the contact if no id does; required for a new contact",
		"first_name": "1 to 200 characters; required for a new contact",
		"last_name":  "1 to 200 characters; required for a new contact",
	}
}

// toPatch converts f to the domain's patch, with the read-only members that were sent.
func (f *ContactFields) toPatch(
	email, first, last httpx.Optional[string],
	readOnly map[string]httpx.RawJSON,
) contacts.Patch {
	p := contacts.Patch{
		Email: email.Field, FirstName: first.Field, LastName: last.Field,
		Phone: f.Phone.Field, JobTitle: f.JobTitle.Field, Source: f.Source.Field, TimeZone: f.TimeZone.Field,
		Country: f.Country.Field, Consent: f.consentPatch(),
		CompanyID: f.CompanyID.Field, OwnerID: f.OwnerID.Field, Stage: f.Stage.Field,
		Tag: stringsOf(f.Tag), Segment: stringsOf(f.Segment), Attributes: f.Attributes.Field,
		ExternalIDs: f.ExternalIDs.Field,
	}

	for name, sent := range map[string]httpx.RawJSON{
		"lead_score": f.LeadScore, "score": f.Score,
		"updated_at": f.UpdatedAt, "archived_at": f.ArchivedAt,
	} {
		p.Refuse(name, json.RawMessage(sent))
	}

	for name, sent := range readOnly {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

func (b *createContactRequest) toPatch() contacts.Patch {
	return b.ContactFields.toPatch(b.Email, b.FirstName, b.LastName,
		map[string]httpx.RawJSON{"id": b.ID, "created_at": b.CreatedAt})
}

func (b *updateContactRequest) toPatch() contacts.Patch {
	return b.ContactFields.toPatch(b.Email, b.FirstName, b.LastName,
		map[string]httpx.RawJSON{"id": b.ID, "created_at": b.CreatedAt})
}

func (b *contactRow) toUpsert() contacts.Upsert {
	u := contacts.Upsert{ID: b.ID.Field, Patch: b.ContactFields.toPatch(b.Email, b.FirstName, b.LastName, nil)}
	u.CreatedAt = b.CreatedAt.Field
	return u
}

func stringsOf(l httpx.Optional[httpx.OneOrMore]) wire.Field[[]string] {
	return wire.Field[[]string]{Set: l.Set, Null: l.Null, Value: l.Value}
}
