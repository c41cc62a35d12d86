package api

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/deals"
)

// DealFields are the members common to every deal body.
type DealFields struct {
	ContactID       httpx.Optional[string] `json:"contact_id" required:"false" format:"uuid" doc:"A live contact"`
	CompanyID       httpx.Optional[string] `json:"company_id" required:"false" doc:"Any UUID; linked if it exists"`
	PipelineID      httpx.Optional[string] `json:"pipeline_id" required:"false" format:"uuid"`
	StageID         httpx.Optional[string] `json:"stage_id" required:"false" format:"uuid"`
	Status          httpx.Optional[string] `json:"status" required:"false"`
	Amount          httpx.Optional[int64]  `json:"amount" required:"false" minimum:"0" maximum:"9007199254740992"`
	Currency        httpx.Optional[string] `json:"currency" required:"false" doc:"ISO 4217, such as EUR; default USD"`
	LostReason      httpx.Optional[string] `json:"lost_reason" required:"false" doc:"If lost; up to 500 characters"`
	ExpectedCloseOn httpx.Optional[string] `json:"expected_close_on" required:"false" doc:"YYYY-MM-DD"`
	OwnerID         httpx.Optional[string] `json:"owner_id" required:"false" doc:"ID of the user who owns the deal"`
	Position        httpx.Optional[string] `json:"position" required:"false"`

	ExternalIDs httpx.Optional[map[string]any] `json:"external_ids" required:"false"`

	UpdatedAt  httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (DealFields) Descriptions() map[string]string {
	return map[string]string{
		"pipeline_id": "Default: the stage's pipeline, or the default pipeline without a stage",
		"stage_id":    "Determines the status; default: the first stage of the status",
		"status": "open, won or lost; moves the deal to the first stage of that kind, or back to its last open " +
			"stage",
		"external_ids": "Ids in other systems, by system; null removes",
		"amount":       "Minor units of the currency, at least 0; default 0",
		"position": "Place in its stage, in byte order: digits and lower-case letters, the last not 0. " +
			"Default: above " +
			"all deals of the stage that it is created in or moved to. To move a deal, before_id and " +
			"after_id are simpler",
	}
}

func (f *DealFields) toPatch(name httpx.Optional[string], readOnly map[string]httpx.RawJSON) deals.Patch {
	p := deals.Patch{
		Name: name.Field, ContactID: f.ContactID.Field, CompanyID: f.CompanyID.Field, PipelineID: f.PipelineID.Field,
		StageID: f.StageID.Field,
		Status:  f.Status.Field, Amount: f.Amount.Field, Currency: f.Currency.Field, LostReason: f.LostReason.Field,
		ExpectedCloseOn: f.ExpectedCloseOn.Field, OwnerID: f.OwnerID.Field, Position: f.Position.Field,
		ExternalIDs: f.ExternalIDs.Field,
	}
	p.Refuse("updated_at", json.RawMessage(f.UpdatedAt))
	p.Refuse("archived_at", json.RawMessage(f.ArchivedAt))
	for name, sent := range readOnly {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

// createDealRequest is the body of a create request.
type createDealRequest struct {
	Name httpx.Optional[string] `json:"name" doc:"Name of the deal, 1 to 200 characters"`
	DealFields
	ClosedAt  httpx.Optional[string] `json:"closed_at" required:"false"`
	ID        httpx.RawJSON          `json:"id" required:"false" readOnly:"true"`
	CreatedAt httpx.RawJSON          `json:"created_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (createDealRequest) Descriptions() map[string]string {
	return map[string]string{
		"closed_at": "RFC 3339, for a won or lost deal: when it was closed, for imported history; default now",
	}
}

func (b *createDealRequest) toPatch() deals.Patch {
	p := b.DealFields.toPatch(b.Name, map[string]httpx.RawJSON{"id": b.ID, "created_at": b.CreatedAt})
	p.ClosedAt = b.ClosedAt.Field
	return p
}

// updateDealRequest is the body of a PATCH request.
type updateDealRequest struct {
	Name httpx.Optional[string] `json:"name" required:"false" doc:"Name of the deal, 1 to 200 characters; not null"`
	DealFields
	BeforeID  httpx.Optional[string] `json:"before_id" required:"false"`
	AfterID   httpx.Optional[string] `json:"after_id" required:"false"`
	ID        httpx.RawJSON          `json:"id" required:"false" readOnly:"true"`
	CreatedAt httpx.RawJSON          `json:"created_at" required:"false" readOnly:"true"`
	ClosedAt  httpx.RawJSON          `json:"closed_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (updateDealRequest) Descriptions() map[string]string {
	return map[string]string{
		"before_id": "Move the deal directly before this one, in the stage that it is in after the " +
			"change. The service " +
			"computes the position",
		"after_id": "Move the deal directly after this one, likewise",
	}
}

func (b *updateDealRequest) toPatch() deals.Patch {
	p := b.DealFields.toPatch(b.Name,
		map[string]httpx.RawJSON{"id": b.ID, "created_at": b.CreatedAt, "closed_at": b.ClosedAt})
	p.BeforeID = b.BeforeID.Field
	p.AfterID = b.AfterID.Field
	return p
}

// dealRow is one row of a batch request.
type dealRow struct {
	ID   httpx.Optional[string] `json:"id" required:"false"`
	Name httpx.Optional[string] `json:"name" required:"false" doc:"1 to 200 characters; required for a new deal"`
	DealFields
	ClosedAt  httpx.Optional[string] `json:"closed_at" required:"false" doc:"RFC 3339; for a won or lost deal"`
	CreatedAt httpx.Optional[string] `json:"created_at" required:"false" doc:"RFC 3339; only for a new deal"`
}

// Descriptions implements wire.Describer.
func (dealRow) Descriptions() map[string]string {
	return map[string]string{
		"id": "Deal to change; if absent, the live one with one of external_ids; else a new one",
	}
}

func (b *dealRow) toUpsert() deals.Upsert {
	u := deals.Upsert{ID: b.ID.Field, Patch: b.DealFields.toPatch(b.Name, nil)}
	u.ClosedAt = b.ClosedAt.Field
	u.CreatedAt = b.CreatedAt.Field
	return u
}

// dealBatchRequest is the body of a batch request, for the API document.
type dealBatchRequest struct {
	Deals []dealRow `json:"deals" minItems:"1" maxItems:"1000" doc:"In order; an invalid row fails alone"`
}
