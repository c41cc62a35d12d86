package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// draftSource is a record from which an answer was generated.
type draftSource struct {
	Type string `json:"type" enum:"contact,event" doc:"Kind of the record: contact, or event of its timeline"`
	ID   id.ID  `json:"id" format:"uuid" doc:"ID of the contact or event"`
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
		"sources": "The records that the model was given: the contact and up to 20 of its latest events",
	}
}

func (a *App) draftEmail(ctx context.Context, in *struct {
	Body struct {
		ContactID id.ID  `json:"contact_id" format:"uuid" doc:"The live contact to write to"`
		Goal      string `json:"goal" minLength:"1" maxLength:"1000" doc:"The mail's purpose and only source of links"`
		Tone      string `json:"tone,omitempty" enum:"friendly,formal,brief" default:"friendly" doc:"Style of the mail"`
		Language  string `json:"language,omitempty" maxLength:"40" default:"English" doc:"Of the mail, in any words"`
	} `nameHint:"DraftEmailRequest"`
},
) (*emailDraftOut, error) {
	record, sources, err := a.recordOf(ctx, in.Body.ContactID)
	if err != nil {
		return nil, err
	}
	ask := ai.Ask{
		Task:   "Goal: " + in.Body.Goal + "\nTone: " + in.Body.Tone + "\nLanguage: " + in.Body.Language,
		Record: record,
	}
	return consult(ctx, a, ai.DraftEmail, ask, func(c *consulted[ai.Draft]) *emailDraftOut {
		out := &emailDraftOut{Spending: c.spent}
		out.Body.Draft, out.Body.Sources, out.Body.Usage = *c.answer, sources, c.usage
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
	record, sources, err := a.recordOf(ctx, in.Body.ContactID)
	if err != nil {
		return nil, err
	}
	return consult(ctx, a, ai.Summarize, ai.Ask{Task: "Sum up the contact.", Record: record},
		func(c *consulted[ai.Summary]) *contactSummaryOut {
			out := &contactSummaryOut{Spending: c.spent}
			out.Body.Summary, out.Body.Sources, out.Body.Usage = *c.answer, sources, c.usage
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
		"sources": "The records that the model was given: the contact and up to 20 of its latest events",
	}
}

func (a *App) nextAction(ctx context.Context, in *aboutContactIn) (*nextActionOut, error) {
	record, sources, err := a.recordOf(ctx, in.Body.ContactID)
	if err != nil {
		return nil, err
	}
	return consult(ctx, a, ai.Next, ai.Ask{Task: "Name the next action.", Record: record},
		func(c *consulted[ai.NextAction]) *nextActionOut {
			out := &nextActionOut{Spending: c.spent}
			out.Body.NextAction, out.Body.Sources, out.Body.Usage = *c.answer, sources, c.usage
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
	return consult(ctx, a, ai.Classify, ask, func(c *consulted[ai.Classified]) *replyClassificationOut {
		out := &replyClassificationOut{Spending: c.spent}
		out.Body.Classified, out.Body.Usage = *c.answer, c.usage
		return out
	})
}

// lately is the number of timeline entries which a model sees.
const lately = 20

// recordOf returns the data of a contact which a model sees, and the records it comes from.
func (a *App) recordOf(ctx context.Context, contact id.ID) (map[string]any, []draftSource, error) {
	var (
		row     contacts.Row
		entries []events.TimelineEntry
	)
	err := a.DB.ReadTx(ctx, httpx.Who(ctx).Org, func(tx *postgres.Tx) (err error) {
		if row, err = contacts.Get(ctx, tx, contact, false); err != nil {
			return err
		}
		within, err := merge.Within(ctx, tx, contact)
		if err != nil {
			return err
		}
		entries, err = events.Timeline(ctx, tx, append([]id.ID{contact}, within...), nil, nil, lately)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	sources := []draftSource{{"contact", contact}}
	timeline := make([]map[string]any, len(entries))
	for i, e := range entries {
		timeline[i] = map[string]any{"type": e.Type, "at": e.At, "changes": e.Changes}
		sources = append(sources, draftSource{"event", e.ID})
	}
	c := &row.Contact
	return map[string]any{
		"contact": map[string]any{
			"email": c.Email, "first_name": c.FirstName, "last_name": c.LastName, "job_title": c.JobTitle,
			"source": c.Source, "time_zone": c.TimeZone,
			"stage": c.Stage, "tag": c.Tag, "attributes": c.Attributes, "lead_score": c.LeadScore,
			"created_at": c.CreatedAt,
		},
		"timeline": timeline,
	}, sources, nil
}
