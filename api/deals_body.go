package api

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/internal/deals"
)

// DealFields are the members that every deal body may have.
type DealFields struct {
	ContactID       optional[string] `json:"contact_id" required:"false" format:"uuid" doc:"A live contact"`
	CompanyID       optional[string] `json:"company_id" required:"false" doc:"Any UUID; it resolves when the organization has such a company"`
	PipelineID      optional[string] `json:"pipeline_id" required:"false" format:"uuid" doc:"The default one if never given; the stage's if a stage is given"`
	StageID         optional[string] `json:"stage_id" required:"false" format:"uuid" doc:"Decides the status; without it the first stage of the status"`
	Status          optional[string] `json:"status" required:"false" doc:"open, won or lost; moves the deal to the first stage of that kind, or back to the open stage that it was in last"`
	Amount          optional[int64]  `json:"amount" required:"false" minimum:"0" maximum:"9007199254740992" doc:"Minor units of the currency, from 0; 0 if never given"`
	Currency        optional[string] `json:"currency" required:"false" doc:"ISO 4217; USD if never given"`
	LostReason      optional[string] `json:"lost_reason" required:"false" doc:"Of a lost deal; up to 500 characters"`
	ExpectedCloseOn optional[string] `json:"expected_close_on" required:"false" doc:"YYYY-MM-DD"`
	OwnerID         optional[string] `json:"owner_id" required:"false" doc:"UUID of the user who looks after the deal"`

	UpdatedAt  anything `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt anything `json:"archived_at" required:"false" readOnly:"true"`
}

func (f *DealFields) patch(name optional[string], readOnly map[string]anything) deals.Patch {
	p := deals.Patch{
		Name: name.Field, ContactID: f.ContactID.Field, CompanyID: f.CompanyID.Field, PipelineID: f.PipelineID.Field, StageID: f.StageID.Field,
		Status: f.Status.Field, Amount: f.Amount.Field, Currency: f.Currency.Field, LostReason: f.LostReason.Field,
		ExpectedCloseOn: f.ExpectedCloseOn.Field, OwnerID: f.OwnerID.Field,
	}
	p.Refuse("updated_at", json.RawMessage(f.UpdatedAt))
	p.Refuse("archived_at", json.RawMessage(f.ArchivedAt))
	for name, sent := range readOnly {
		p.Refuse(name, json.RawMessage(sent))
	}
	return p
}

// newDeal is the body of a creation.
type newDeal struct {
	Name optional[string] `json:"name" doc:"1 to 200 characters"`
	DealFields
	ClosedAt  optional[string] `json:"closed_at" required:"false" doc:"RFC 3339, of a won or lost deal: when that was, where history is brought in; now if absent"`
	ID        anything         `json:"id" required:"false" readOnly:"true"`
	CreatedAt anything         `json:"created_at" required:"false" readOnly:"true"`
}

func (b *newDeal) patch() deals.Patch {
	p := b.DealFields.patch(b.Name, map[string]anything{"id": b.ID, "created_at": b.CreatedAt})
	p.ClosedAt = b.ClosedAt.Field
	return p
}

// dealPatch is the body of a PATCH.
type dealPatch struct {
	Name optional[string] `json:"name" required:"false" doc:"1 to 200 characters"`
	DealFields
	ID        anything `json:"id" required:"false" readOnly:"true"`
	CreatedAt anything `json:"created_at" required:"false" readOnly:"true"`
	ClosedAt  anything `json:"closed_at" required:"false" readOnly:"true"`
}

func (b *dealPatch) patch() deals.Patch {
	return b.DealFields.patch(b.Name, map[string]anything{"id": b.ID, "created_at": b.CreatedAt, "closed_at": b.ClosedAt})
}

// dealRow is one row of a batch.
type dealRow struct {
	ID   optional[string] `json:"id" required:"false" doc:"The deal to change; without it a new one is made"`
	Name optional[string] `json:"name" required:"false"`
	DealFields
	ClosedAt  optional[string] `json:"closed_at" required:"false" doc:"RFC 3339, of a won or lost deal: when that was"`
	CreatedAt optional[string] `json:"created_at" required:"false" doc:"RFC 3339, of a new deal only: history that is brought in"`
}

func (b *dealRow) upsert() deals.Upsert {
	u := deals.Upsert{ID: b.ID.Field, Patch: b.DealFields.patch(b.Name, nil)}
	u.ClosedAt, u.CreatedAt = b.ClosedAt.Field, b.CreatedAt.Field
	return u
}

// dealBatchBody is the body of a batch, as the document describes it.
type dealBatchBody struct {
	Deals []dealRow `json:"deals" minItems:"1" maxItems:"1000" doc:"Worked in the order sent. A row that is wrong is answered as an error and stops no other"`
}
