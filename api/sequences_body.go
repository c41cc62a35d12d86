package api

import (
	"encoding/json"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

type sequenceSchedulePatch struct {
	TimeZone httpx.Optional[string]   `json:"time_zone" required:"false" doc:"contact, the default, or an IANA name"`
	Days     httpx.Optional[[]string] `json:"days" required:"false" doc:"From mon to sun; default mon to fri"`
	From     httpx.Optional[string]   `json:"from" required:"false" doc:"Start of the window, default 09:00"`
	To       httpx.Optional[string]   `json:"to" required:"false" doc:"End of the window, default 17:00"`
	Holidays httpx.Optional[[]string] `json:"holidays" required:"false" doc:"Days, YYYY-MM-DD, without mails"`
}

func (b sequenceSchedulePatch) toPatch() sequences.SchedulePatch {
	return sequences.SchedulePatch{
		TimeZone: b.TimeZone.Field, Days: b.Days.Field, From: b.From.Field, To: b.To.Field, Holidays: b.Holidays.Field,
	}
}

type sequenceStopPatch struct {
	Reply        httpx.Optional[bool] `json:"reply" required:"false" doc:"A reply of the contact"`
	CompanyReply httpx.Optional[bool] `json:"company_reply" required:"false"`
	DealWon      httpx.Optional[bool] `json:"deal_won" required:"false" doc:"A deal of the contact is won"`
}

// Descriptions implements wire.Describer.
func (sequenceStopPatch) Descriptions() map[string]string {
	return map[string]string{"company_reply": "A reply of another contact of the same company"}
}

func (b sequenceStopPatch) toPatch() sequences.StopOnPatch {
	return sequences.StopOnPatch{
		Reply: b.Reply.Field, CompanyReply: b.CompanyReply.Field, DealWon: b.DealWon.Field,
	}
}

// SequenceFields are the members common to both sequence bodies.
type SequenceFields struct {
	MailboxIDs     httpx.Optional[[]string]              `json:"mailbox_ids" required:"false"`
	Rotation       httpx.Optional[string]                `json:"rotation" required:"false"`
	Schedule       httpx.Optional[sequenceSchedulePatch] `json:"schedule" required:"false"`
	Goal           httpx.Optional[map[string]any]        `json:"goal" required:"false"`
	StopOn         httpx.Optional[sequenceStopPatch]     `json:"stop_on" required:"false"`
	Exclusive      httpx.Optional[bool]                  `json:"exclusive" required:"false"`
	AllowReenroll  httpx.Optional[bool]                  `json:"allow_reenroll" required:"false"`
	MaxNewPerDay   httpx.Optional[int]                   `json:"max_new_per_day" required:"false"`
	LateAfterHours httpx.Optional[int]                   `json:"late_after_hours" required:"false"`
	EnrollSegment  httpx.Optional[string]                `json:"enroll_segment" required:"false" format:"uuid"`
	Steps          httpx.Optional[[]sequenceStepInput]   `json:"steps" required:"false"`

	ID           httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	Status       httpx.RawJSON `json:"status" required:"false" readOnly:"true"`
	Version      httpx.RawJSON `json:"version" required:"false" readOnly:"true"`
	DraftVersion httpx.RawJSON `json:"draft_version" required:"false" readOnly:"true"`
	CreatedAt    httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt    httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt   httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`

	// These change by themselves, so they are ignored.
	StatusReason httpx.RawJSON `json:"status_reason" required:"false" readOnly:"true"`
	StatusDetail httpx.RawJSON `json:"status_detail" required:"false" readOnly:"true"`
	StatusAction httpx.RawJSON `json:"status_action" required:"false" readOnly:"true"`
	Counts       httpx.RawJSON `json:"counts" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (SequenceFields) Descriptions() map[string]string {
	return map[string]string{
		"mailbox_ids":      "IDs of up to 50 mailboxes that send",
		"rotation":         "sticky, the default: an enrolment keeps its mailbox",
		"schedule":         "When its mails may be sent. Merged per member; null: the default",
		"goal":             "Filter on the contact that ends its enrolment once it matches; null: none",
		"stop_on":          "What ends an enrolment. Merged per member; null: the default",
		"exclusive":        "Leave out contacts that are in another sequence; default true",
		"allow_reenroll":   "A contact may be enrolled again afterwards; default false",
		"max_new_per_day":  "Most enrolments that begin in 24 hours, 1 to 1000000; null: no limit",
		"late_after_hours": "A mail due for longer is not sent any more; 1 to 720, default 24",
		"enroll_segment":   "ID of a dynamic segment: contacts that enter it are enrolled; null: none",
		"steps":            "All steps, in their order, at most 50; replaces the steps of the draft",
	}
}

func (f *SequenceFields) toPatch(name httpx.Optional[string]) sequences.Patch {
	p := sequences.Patch{
		Name: name.Field, MailboxIDs: f.MailboxIDs.Field, Rotation: f.Rotation.Field, Goal: f.Goal.Field,
		Schedule:  convertField(f.Schedule, sequenceSchedulePatch.toPatch),
		StopOn:    convertField(f.StopOn, sequenceStopPatch.toPatch),
		Exclusive: f.Exclusive.Field, AllowReenroll: f.AllowReenroll.Field, MaxNewPerDay: f.MaxNewPerDay.Field,
		LateAfterHours: f.LateAfterHours.Field, EnrollSegment: f.EnrollSegment.Field,
		Steps: convertField(f.Steps, func(all []sequenceStepInput) []steps.Step {
			list := make([]steps.Step, len(all))
			for i := range all {
				list[i] = all[i].toStep()
			}
			return list
		}),
	}

	for name, sent := range map[string]httpx.RawJSON{
		"id": f.ID, "status": f.Status, "version": f.Version, "draft_version": f.DraftVersion,
		"created_at": f.CreatedAt, "updated_at": f.UpdatedAt, "archived_at": f.ArchivedAt,
	} {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

type createSequenceRequest struct {
	Name httpx.Optional[string] `json:"name" doc:"Display name, 1 to 200 characters"`
	SequenceFields
}

func (b *createSequenceRequest) toPatch() sequences.Patch { return b.SequenceFields.toPatch(b.Name) }

type updateSequenceRequest struct {
	Name httpx.Optional[string] `json:"name" required:"false" doc:"Display name, 1 to 200 characters; not null"`
	SequenceFields
}

func (b *updateSequenceRequest) toPatch() sequences.Patch { return b.SequenceFields.toPatch(b.Name) }

// sequenceDelay is a period in a request.
type sequenceDelay struct {
	Value int    `json:"value" minimum:"0" maximum:"527040" doc:"Number of units, at most about a year"`
	Unit  string `json:"unit" enum:"minutes,hours,days,business_days" doc:"Unit; business days skip holidays"`
}

func (d sequenceDelay) toDelay() schedule.Delay {
	return schedule.Delay{Value: d.Value, Unit: schedule.Unit(d.Unit)}
}
