package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// anything is a member that is taken as it was sent; nil when it was not.
type anything json.RawMessage

// UnmarshalJSON keeps b.
func (a *anything) UnmarshalJSON(b []byte) error { *a = append((*a)[:0], b...); return nil }

// Schema is that of any value.
func (anything) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// ContactFields are the members that every contact body may have.
type ContactFields struct {
	Phone      optional[string]         `json:"phone" required:"false" doc:"Free text, up to 50 characters; runs of blanks become one"`
	JobTitle   optional[string]         `json:"job_title" required:"false" doc:"Up to 200 characters"`
	Source     optional[string]         `json:"source" required:"false" doc:"Where the contact came from, up to 200 characters"`
	TimeZone   optional[string]         `json:"time_zone" required:"false" doc:"A name of the IANA database, such as Europe/Berlin"`
	CompanyID  optional[string]         `json:"company_id" required:"false" doc:"Any UUID; it resolves when the organization has such a company"`
	OwnerID    optional[string]         `json:"owner_id" required:"false" doc:"UUID of the user who looks after the contact"`
	Stage      optional[string]         `json:"stage" required:"false" doc:"One of the organization's stages; lead if never given"`
	Tag        optional[oneOrMore]      `json:"tag" required:"false" doc:"Up to 50 tags of up to 64 characters without commas; one string is an array of one"`
	Segment    optional[oneOrMore]      `json:"segment" required:"false" doc:"Keys of static segments, made if new; replaces the static segments that the contact is in"`
	Attributes optional[map[string]any] `json:"attributes" required:"false" doc:"Values of custom fields: string, number, boolean or date (YYYY-MM-DD). An undefined key is defined by its first value; null takes a value out"`

	LeadScore  anything `json:"lead_score" required:"false" readOnly:"true"`
	Score      anything `json:"score" required:"false" readOnly:"true"`
	UpdatedAt  anything `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt anything `json:"archived_at" required:"false" readOnly:"true"`
}

// newContact is the body of a creation.
type newContact struct {
	Email     optional[string] `json:"email" doc:"Kept as sent, compared folded; one live contact per address"`
	FirstName optional[string] `json:"first_name" doc:"1 to 200 characters"`
	LastName  optional[string] `json:"last_name" doc:"1 to 200 characters"`
	ContactFields
	ID        anything `json:"id" required:"false" readOnly:"true"`
	CreatedAt anything `json:"created_at" required:"false" readOnly:"true"`
}

// contactPatch is the body of a PATCH.
type contactPatch struct {
	Email     optional[string] `json:"email" required:"false" doc:"Kept as sent, compared folded; one live contact per address"`
	FirstName optional[string] `json:"first_name" required:"false" doc:"1 to 200 characters"`
	LastName  optional[string] `json:"last_name" required:"false" doc:"1 to 200 characters"`
	ContactFields
	ID        anything `json:"id" required:"false" readOnly:"true"`
	CreatedAt anything `json:"created_at" required:"false" readOnly:"true"`
}

// contactRow is one row of a batch.
type contactRow struct {
	ID        optional[string] `json:"id" required:"false" doc:"The contact to change; without it the live one with this email, else a new one"`
	Email     optional[string] `json:"email" required:"false"`
	FirstName optional[string] `json:"first_name" required:"false"`
	LastName  optional[string] `json:"last_name" required:"false"`
	ContactFields
	CreatedAt optional[string] `json:"created_at" required:"false" doc:"RFC 3339, of a new contact only: history that is brought in"`
}

// patch is f as the domain takes it, with the read-only members that were sent.
func (f *ContactFields) patch(email, first, last optional[string], readOnly map[string]anything) contacts.Patch {
	p := contacts.Patch{
		Email: email.Field, FirstName: first.Field, LastName: last.Field,
		Phone: f.Phone.Field, JobTitle: f.JobTitle.Field, Source: f.Source.Field, TimeZone: f.TimeZone.Field,
		CompanyID: f.CompanyID.Field, OwnerID: f.OwnerID.Field, Stage: f.Stage.Field,
		Tag: stringsOf(f.Tag), Segment: stringsOf(f.Segment), Attributes: f.Attributes.Field,
	}
	for name, sent := range map[string]anything{"lead_score": f.LeadScore, "score": f.Score, "updated_at": f.UpdatedAt, "archived_at": f.ArchivedAt} {
		p.Refuse(name, json.RawMessage(sent))
	}
	for name, sent := range readOnly {
		p.Refuse(name, json.RawMessage(sent))
	}
	return p
}

func (b *newContact) patch() contacts.Patch {
	return b.ContactFields.patch(b.Email, b.FirstName, b.LastName, map[string]anything{"id": b.ID, "created_at": b.CreatedAt})
}

func (b *contactPatch) patch() contacts.Patch {
	return b.ContactFields.patch(b.Email, b.FirstName, b.LastName, map[string]anything{"id": b.ID, "created_at": b.CreatedAt})
}

func (b *contactRow) upsert() contacts.Upsert {
	u := contacts.Upsert{ID: b.ID.Field, Patch: b.ContactFields.patch(b.Email, b.FirstName, b.LastName, nil)}
	u.CreatedAt = b.CreatedAt.Field
	return u
}

func stringsOf(l optional[oneOrMore]) wire.Field[[]string] {
	return wire.Field[[]string]{Set: l.Set, Null: l.Null, Value: l.Value}
}
