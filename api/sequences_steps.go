package api

import (
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// sequenceStepInput is a step in a request.
type sequenceStepInput struct {
	Key       httpx.Optional[string]             `json:"key" required:"false"`
	Kind      string                             `json:"kind" enum:"email,wait,task,condition,update,webhook"`
	Delay     httpx.Optional[sequenceDelay]      `json:"delay" required:"false"`
	Email     httpx.Optional[stepEmailInput]     `json:"email" required:"false"`
	Task      httpx.Optional[stepTaskInput]      `json:"task" required:"false"`
	Condition httpx.Optional[stepConditionInput] `json:"condition" required:"false"`
	Update    httpx.Optional[stepUpdateInput]    `json:"update" required:"false"`
	Webhook   httpx.Optional[stepWebhookInput]   `json:"webhook" required:"false"`
}

// Descriptions implements wire.Describer.
func (sequenceStepInput) Descriptions() map[string]string {
	all := steps.Step{}.Descriptions()
	all["key"] += "; made from the kind if absent"
	all["delay"] = "Time between the step before and this one; default none, required for a wait"
	all["email"] = "The mail; of the kind email"
	all["task"] = "The task; of the kind task"
	all["condition"] = "The condition; of the kind condition"
	all["update"] = "The change; of the kind update"
	all["webhook"] = "The endpoint; of the kind webhook"
	return all
}

func (b *sequenceStepInput) toStep() steps.Step {
	return steps.Step{
		Key: b.Key.Value, Kind: b.Kind, Delay: b.Delay.Value.toDelay(),
		Email:     pointerTo(b.Email, stepEmailInput.toEmail),
		Task:      pointerTo(b.Task, stepTaskInput.toTask),
		Condition: pointerTo(b.Condition, stepConditionInput.toCondition),
		Update: pointerTo(b.Update, func(u stepUpdateInput) steps.Update {
			return steps.Update{Set: u.Set.Value, AddTags: u.AddTags.Value, RemoveTags: u.RemoveTags.Value}
		}),
		Webhook: pointerTo(b.Webhook, func(w stepWebhookInput) steps.Webhook {
			return steps.Webhook{EndpointID: uuidOrZero(w.EndpointID)}
		}),
	}
}

// pointerTo returns the converted value of a member, or nil if it is absent or null.
func pointerTo[A, B any](in httpx.Optional[A], convert func(A) B) *B {
	if !in.Set || in.Null {
		return nil
	}
	out := convert(in.Value)
	return &out
}

type stepEmailInput struct {
	Subject  httpx.Optional[string]             `json:"subject" required:"false"`
	HTML     httpx.Optional[string]             `json:"html" required:"false" doc:"HTML with merge fields"`
	Text     httpx.Optional[string]             `json:"text" required:"false" doc:"Text part with merge fields"`
	Thread   httpx.Optional[string]             `json:"thread" required:"false"`
	Variants httpx.Optional[[]stepVariantInput] `json:"variants" required:"false"`
	Auto     httpx.Optional[bool]               `json:"auto" required:"false"`
}

// Descriptions implements wire.Describer.
func (stepEmailInput) Descriptions() map[string]string {
	return map[string]string{
		"subject":  "Subject with merge fields; absent in a reply: that of the thread",
		"thread":   "reply, the default: in the thread of the email before, if there is one; new: begins a thread",
		"variants": "2 to 5 versions of the mail that are compared; what a variant lacks is taken from the mail",
		"auto": "Stop all variants but the best one, once its probability to be the best is 0.95; default false. See " +
			"p_best of the statistics",
	}
}

func (b stepEmailInput) toEmail() steps.Email {
	e := steps.Email{
		Subject: b.Subject.Value, HTML: b.HTML.Value, Text: b.Text.Value, Thread: b.Thread.Value, Auto: b.Auto.Value,
	}
	for _, v := range b.Variants.Value {
		e.Variants = append(e.Variants, steps.Variant{
			Key: v.Key, Weight: v.Weight.Value, Subject: v.Subject.Value, HTML: v.HTML.Value, Text: v.Text.Value,
		})
	}
	return e
}

type stepVariantInput struct {
	Key     string                 `json:"key" doc:"Identifies the variant in the statistics"`
	Weight  httpx.Optional[int]    `json:"weight" required:"false" doc:"Share of the enrolments, 1 to 100; default 1"`
	Subject httpx.Optional[string] `json:"subject" required:"false" doc:"Replaces the subject of the mail"`
	HTML    httpx.Optional[string] `json:"html" required:"false" doc:"Replaces the body of the mail"`
	Text    httpx.Optional[string] `json:"text" required:"false" doc:"Replaces the body of the mail"`

	StoppedAt httpx.RawJSON `json:"stopped_at" required:"false" readOnly:"true"` // is set by itself, so it is ignored
}

type stepTaskInput struct {
	Title    string                 `json:"title" doc:"What is to be done, 1 to 200 characters"`
	Type     httpx.Optional[string] `json:"type" required:"false" doc:"todo, the default, call, email or message"`
	Assignee httpx.Optional[string] `json:"assignee" required:"false" doc:"User; null: the owner of the contact"`
}

func (b stepTaskInput) toTask() steps.Task {
	t := steps.Task{Title: b.Title, Type: b.Type.Value}
	if b.Assignee.Set && !b.Assignee.Null {
		user := uuidOrZero(b.Assignee.Value)
		t.Assignee = &user
	}
	return t
}

type stepConditionInput struct {
	Filter map[string]any                `json:"filter"`
	Within httpx.Optional[sequenceDelay] `json:"within" required:"false"`
	Then   httpx.Optional[string]        `json:"then" required:"false"`
	Else   httpx.Optional[string]        `json:"else" required:"false"`
}

// Descriptions implements wire.Describer.
func (stepConditionInput) Descriptions() map[string]string {
	all := steps.Condition{}.Descriptions()
	all["within"] = "How long to wait for the filter to match; null: not at all"
	all["then"] = "Key of the step after a match, or end; null: the next one"
	all["else"] = "Key of the step without a match, or end; null: the next one"
	return all
}

func (b stepConditionInput) toCondition() steps.Condition {
	return steps.Condition{
		Filter: b.Filter, Within: pointerTo(b.Within, sequenceDelay.toDelay), Then: b.Then.Value, Else: b.Else.Value,
	}
}

type stepUpdateInput struct {
	Set        httpx.Optional[map[string]any] `json:"set" required:"false"`
	AddTags    httpx.Optional[[]string]       `json:"add_tags" required:"false" doc:"Tags that are added"`
	RemoveTags httpx.Optional[[]string]       `json:"remove_tags" required:"false" doc:"Tags that are removed"`
}

// Descriptions implements wire.Describer.
func (stepUpdateInput) Descriptions() map[string]string {
	return map[string]string{
		"set": "Fields of the contact with their values, as in a patch of the contact; not email, tag or consent",
	}
}

type stepWebhookInput struct {
	EndpointID string `json:"endpoint_id" format:"uuid" doc:"ID of the webhook endpoint"`
}

// uuidOrZero parses a UUID. Another text gives the zero ID, which is refused with the other problems of the steps.
func uuidOrZero(s string) id.ID {
	i, err := id.Parse(s)
	if err != nil {
		return id.ID{}
	}
	return i
}
