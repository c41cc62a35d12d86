package api

import (
	"context"
	"strings"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// draftSource is a record from which an answer was generated.
type draftSource struct {
	Type string `json:"type" enum:"contact,event,sequence,enrolment,email,message"`
	ID   id.ID  `json:"id" format:"uuid" doc:"ID of the record"`
}

// Descriptions implements wire.Describer.
func (draftSource) Descriptions() map[string]string {
	return map[string]string{"type": "Kind of the record; an event is one of the timeline, a message an incoming mail"}
}

type emailDraftOut struct {
	Spending
	Body struct {
		ai.Draft
		Sources []draftSource `json:"sources"`
		Usage   ai.TokenUsage `json:"usage" doc:"Tokens charged for this request"`
	}
}

// Descriptions implements wire.Describer.
func (emailDraftOut) Descriptions() map[string]string {
	return map[string]string{
		"sources": "The records that the model was given: the contact and up to 20 of its latest events; with a step " +
			"also the sequence, the contact's enrolment in it, and up to 5 messages of the thread",
	}
}

type draftEmailRequest struct {
	ContactID  id.ID  `json:"contact_id" format:"uuid" doc:"The live contact to write to"`
	Goal       string `json:"goal,omitempty" maxLength:"1000"`
	SequenceID *id.ID `json:"sequence_id,omitempty" format:"uuid" doc:"Sequence of step"`
	Step       string `json:"step,omitempty" maxLength:"40"`
	Tone       string `json:"tone,omitempty" enum:"friendly,formal,brief" default:"friendly" doc:"Style of the mail"`
	Language   string `json:"language,omitempty" maxLength:"40" default:"English" doc:"Of the mail, in any words"`
}

// Descriptions implements wire.Describer.
func (draftEmailRequest) Descriptions() map[string]string {
	return map[string]string{
		"goal": "The mail's purpose and only source of links; required unless there is a step, whose mail is drafted " +
			"by default",
		"step": "Key of a step of sequence_id that sends an email: its mail is drafted for the contact. Nothing is " +
			"sent, and the sequence stays as it is",
	}
}

// modelTask returns what the model is to do, and the part of its context that a step adds.
func (r *draftEmailRequest) modelTask() (task string, parts []contextPart, err error) {
	switch {
	case r.SequenceID != nil && r.Step == "":
		return "", nil, fault.Invalid("step", "required", "A sequence needs the key of a step.")
	case r.SequenceID == nil && r.Step != "":
		return "", nil, fault.Invalid("sequence_id", "required", "A step needs its sequence.")
	case r.SequenceID == nil && r.Goal == "":
		return "", nil, fault.Invalid("goal", "required", "A draft needs a goal, or a step of a sequence.")
	}

	goal := r.Goal
	if r.SequenceID != nil {
		parts = []contextPart{stepPart(*r.SequenceID, r.Step)}
		goal = strings.TrimSpace("Write the mail of the step in the record for this contact. " + goal)
	}

	return "Goal: " + goal + "\nTone: " + r.Tone + "\nLanguage: " + r.Language, parts, nil
}

func (a *App) draftEmail(ctx context.Context, in *struct{ Body draftEmailRequest }) (*emailDraftOut, error) {
	task, parts, err := in.Body.modelTask()
	if err != nil {
		return nil, err
	}

	known, err := a.contextOf(ctx, in.Body.ContactID, parts...)
	if err != nil {
		return nil, err
	}

	return callAndCharge(ctx, a, ai.DraftEmail, ai.Ask{Task: task, Record: known.record},
		func(c *consulted[ai.Draft]) *emailDraftOut {
			out := &emailDraftOut{Spending: c.spent}
			out.Body.Draft = *c.answer
			out.Body.Sources = known.sources
			out.Body.Usage = c.usage
			return out
		})
}

// aboutContactIn is the request body of an operation on one contact.
type aboutContactIn struct {
	Body struct {
		ContactID id.ID `json:"contact_id" format:"uuid" doc:"ID of a live contact"`
	}
}

type contactSummaryOut struct {
	Spending
	Body struct {
		ai.Summary
		Sources []draftSource `json:"sources"`
		Usage   ai.TokenUsage `json:"usage" doc:"Tokens charged for this request"`
	}
}

// Descriptions implements wire.Describer.
func (contactSummaryOut) Descriptions() map[string]string {
	return map[string]string{
		"sources": "The records that the model was given: the contact and up to 20 of its latest events",
	}
}

func (a *App) summarizeContact(ctx context.Context, in *aboutContactIn) (*contactSummaryOut, error) {
	known, err := a.contextOf(ctx, in.Body.ContactID)
	if err != nil {
		return nil, err
	}
	return callAndCharge(ctx, a, ai.Summarize, ai.Ask{Task: "Sum up the contact.", Record: known.record},
		func(c *consulted[ai.Summary]) *contactSummaryOut {
			out := &contactSummaryOut{Spending: c.spent}
			out.Body.Summary = *c.answer
			out.Body.Sources = known.sources
			out.Body.Usage = c.usage
			return out
		})
}

type nextActionOut struct {
	Spending
	Body struct {
		ai.NextAction
		Sources []draftSource `json:"sources"`
		Usage   ai.TokenUsage `json:"usage" doc:"Tokens charged for this request"`
	}
}

// Descriptions implements wire.Describer.
func (nextActionOut) Descriptions() map[string]string {
	return map[string]string{
		"sources": "The records that the model was given: the contact, up to 20 of its latest events, and up to 3 of " +
			"its latest enrolments with their last emails",
	}
}

func (a *App) nextAction(ctx context.Context, in *aboutContactIn) (*nextActionOut, error) {
	known, err := a.contextOf(ctx, in.Body.ContactID, addEnrolments)
	if err != nil {
		return nil, err
	}
	return callAndCharge(ctx, a, ai.Next, ai.Ask{Task: "Name the next action.", Record: known.record},
		func(c *consulted[ai.NextAction]) *nextActionOut {
			out := &nextActionOut{Spending: c.spent}
			out.Body.NextAction = *c.answer
			out.Body.Sources = known.sources
			out.Body.Usage = c.usage
			return out
		})
}

type replyClassificationOut struct {
	Spending
	Body struct {
		ai.Classified
		Usage ai.TokenUsage `json:"usage" doc:"Tokens charged for this request"`
	}
}

func (a *App) classifyReply(ctx context.Context, in *struct {
	Body struct {
		Subject string `json:"subject,omitempty" maxLength:"1000" doc:"Subject of the mail; default: empty"`
		Text    string `json:"text" minLength:"1" maxLength:"20000" doc:"The mail as plain text"`
	} `nameHint:"ClassifyReplyRequest"`
},
) (*replyClassificationOut, error) {
	ask := ai.Ask{Task: "Classify the reply.", Text: "Subject: " + in.Body.Subject + "\n\n" + in.Body.Text}
	return callAndCharge(ctx, a, ai.Classify, ask, func(c *consulted[ai.Classified]) *replyClassificationOut {
		out := &replyClassificationOut{Spending: c.spent}
		out.Body.Classified = *c.answer
		out.Body.Usage = c.usage
		return out
	})
}
