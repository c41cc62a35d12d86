package api

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// BroadcastFields are the members common to both bodies of broadcasts.
type BroadcastFields struct {
	MailboxID httpx.Optional[string]             `json:"mailbox_id" required:"false"`
	Segment   httpx.Optional[string]             `json:"segment" required:"false" format:"uuid"`
	Filter    httpx.Optional[map[string]any]     `json:"filter" required:"false"`
	Email     httpx.Optional[broadcastMailPatch] `json:"email" required:"false"`
	SendAt    httpx.Optional[string]             `json:"send_at" required:"false"`
	LocalTime httpx.Flag                         `json:"local_time" required:"false"`

	ID          httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	Status      httpx.RawJSON `json:"status" required:"false" readOnly:"true"`
	Total       httpx.RawJSON `json:"total" required:"false" readOnly:"true"`
	Sendable    httpx.RawJSON `json:"sendable" required:"false" readOnly:"true"`
	LeftOut     httpx.RawJSON `json:"left_out" required:"false" readOnly:"true"`
	CreatedAt   httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt   httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	CompletedAt httpx.RawJSON `json:"completed_at" required:"false" readOnly:"true"`
	ArchivedAt  httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`

	StatusReason httpx.RawJSON `json:"status_reason" required:"false" readOnly:"true"`
	StatusDetail httpx.RawJSON `json:"status_detail" required:"false" readOnly:"true"`
	StatusAction httpx.RawJSON `json:"status_action" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (BroadcastFields) Descriptions() map[string]string {
	return map[string]string{
		"mailbox_id": "Mailbox that it is sent from; null: not chosen yet",
		"segment":    "Segment that gets it; not together with filter",
		"filter":     "Filter of the contacts that get it; not together with segment",
		"email":      "The mail. Merged per member",
		"send_at":    "When it is sent once it is scheduled, RFC 3339; null: at once",
		"local_time": "Whether each contact gets it when the clock of its time zone shows what that of the " +
			"organization shows at send_at",
	}
}

type broadcastMailPatch struct {
	Subject    httpx.Optional[string]        `json:"subject" required:"false" doc:"Subject with merge fields"`
	HTML       httpx.Optional[string]        `json:"html" required:"false" doc:"HTML with merge fields"`
	Text       httpx.Optional[string]        `json:"text" required:"false" doc:"Text part with merge fields"`
	TemplateID httpx.Optional[string]        `json:"template_id" required:"false"`
	Variants   httpx.Optional[[]mailVariant] `json:"variants" required:"false"`
}

// mailVariant is a variant in a request.
type mailVariant struct {
	Key     string `json:"key" doc:"Identifies the variant in the statistics"`
	Weight  int    `json:"weight,omitempty" minimum:"1" maximum:"100" doc:"Share of the audience; default 1"`
	Subject string `json:"subject,omitempty" doc:"Replaces the subject of the mail"`
	HTML    string `json:"html,omitempty" doc:"Replaces the HTML of the mail"`
	Text    string `json:"text,omitempty" doc:"Replaces the text part of the mail"`
}

func toVariants(all []mailVariant) []steps.Variant {
	out := make([]steps.Variant, len(all))
	for i, v := range all {
		out[i] = steps.Variant{Key: v.Key, Weight: max(v.Weight, 1), Subject: v.Subject, HTML: v.HTML, Text: v.Text}
	}
	return out
}

// Descriptions implements wire.Describer.
func (broadcastMailPatch) Descriptions() map[string]string {
	return map[string]string{
		"template_id": "Template whose parts the mail has where it has none of its own; null: none",
		"variants":    "2 to 5 versions that are compared, or none",
	}
}

func (f *BroadcastFields) toPatch() broadcasts.Patch {
	p := broadcasts.Patch{
		MailboxID: f.MailboxID.Field, Segment: f.Segment.Field, Filter: f.Filter.Field, SendAt: f.SendAt.Field,
		LocalTime: f.LocalTime.Field,
		Email: convertField(f.Email, func(m broadcastMailPatch) broadcasts.MailPatch {
			return broadcasts.MailPatch{
				Subject: m.Subject.Field, HTML: m.HTML.Field, Text: m.Text.Field, TemplateID: m.TemplateID.Field,
				Variants: convertField(m.Variants, toVariants),
			}
		}),
	}

	for name, sent := range map[string]httpx.RawJSON{
		"id": f.ID, "status": f.Status, "total": f.Total, "sendable": f.Sendable, "left_out": f.LeftOut,
		"created_at": f.CreatedAt, "updated_at": f.UpdatedAt, "completed_at": f.CompletedAt,
		"archived_at": f.ArchivedAt, "status_reason": f.StatusReason, "status_detail": f.StatusDetail,
		"status_action": f.StatusAction,
	} {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

type createBroadcastRequest struct {
	Name httpx.Optional[string] `json:"name" doc:"Display name, 1 to 200 characters"`
	BroadcastFields
}

func (b *createBroadcastRequest) toPatch() broadcasts.Patch {
	p := b.BroadcastFields.toPatch()
	p.Name = b.Name.Field
	return p
}

type updateBroadcastRequest struct {
	Name httpx.Optional[string] `json:"name" required:"false" doc:"Display name, 1 to 200 characters"`
	BroadcastFields
}

func (b *updateBroadcastRequest) toPatch() broadcasts.Patch {
	p := b.BroadcastFields.toPatch()
	p.Name = b.Name.Field
	return p
}
