package steps

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kinds of steps.
const (
	KindEmail     = "email"
	KindWait      = "wait"
	KindTask      = "task"
	KindCondition = "condition"
	KindUpdate    = "update"
	KindWebhook   = "webhook"
)

// End is the target of a condition that ends the enrolment.
const End = "end"

// Threads of an email.
const (
	Reply     = "reply" // in the thread of the email before, if there is one
	NewThread = "new"
)

// Limits of a version.
const (
	Max         = 50 // steps
	MaxVariants = 5  // of an email
)

// Step is a step of a sequence. Of Email, Task, Condition, Update and Webhook it has the one that its kind names; a
// wait has none.
type Step struct {
	Key       string         `json:"key"`
	Kind      string         `json:"kind" enum:"email,wait,task,condition,update,webhook"`
	Delay     schedule.Delay `json:"delay" doc:"Time between the step before and this one"`
	Email     *Email         `json:"email,omitempty" doc:"The mail; only of the kind email"`
	Task      *Task          `json:"task,omitempty" doc:"The task; only of the kind task"`
	Condition *Condition     `json:"condition,omitempty" doc:"The condition; only of the kind condition"`
	Update    *Update        `json:"update,omitempty" doc:"The change; only of the kind update"`
	Webhook   *Webhook       `json:"webhook,omitempty" doc:"The endpoint; only of the kind webhook"`
}

// Descriptions implements wire.Describer.
func (Step) Descriptions() map[string]string {
	return map[string]string{
		"key": "Identifies the step in all versions of the sequence: lower case letters, digits, _ and -, at most 40",
		"kind": "email sends; wait only passes time; task creates a task and goes on once it is done; condition " +
			"branches; update changes the contact; webhook tells an endpoint",
	}
}

// Email is a mail that a step sends.
type Email struct {
	Subject  string    `json:"subject" doc:"Subject with merge fields; empty in a reply: that of the thread"`
	HTML     string    `json:"html" doc:"HTML with merge fields; empty: it is made from text"`
	Text     string    `json:"text" doc:"Text part with merge fields; empty: it is made from html"`
	Thread   string    `json:"thread" enum:"reply,new"`
	Variants []Variant `json:"variants" nullable:"false" maxItems:"5" doc:"Versions of the mail that are compared"`
	Auto     bool      `json:"auto"`
}

// Descriptions implements wire.Describer.
func (Email) Descriptions() map[string]string {
	return map[string]string{
		"thread": "reply: in the thread of the email before, if there is one; new: begins a thread",
		"auto": "Whether all variants but the best one are stopped, once its probability to be the best is 0.95; see " +
			"p_best of the statistics",
	}
}

// Variant is a version of a mail. Each enrolment gets one of them, in proportion to the weights.
type Variant struct {
	Key     string `json:"key" doc:"Identifies the variant in the statistics"`
	Weight  int    `json:"weight" minimum:"1" maximum:"100" doc:"Share of the enrolments, relative to the others"`
	Subject string `json:"subject" doc:"Replaces the subject of the mail; empty: it does not"`
	HTML    string `json:"html" doc:"Replaces the HTML of the mail; empty: it does not"`
	Text    string `json:"text" doc:"Replaces the text part of the mail; empty: it does not"`

	// StoppedAt is not part of a version: it is set where a sequence is shown.
	StoppedAt *wire.Time `json:"stopped_at,omitempty" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Variant) Descriptions() map[string]string {
	return map[string]string{"stopped_at": "When it was stopped, since another variant is better; absent: it was not"}
}

// Task is a task that a step creates. The enrolment goes on once it is done.
type Task struct {
	Title    string `json:"title" doc:"What is to be done, 1 to 200 characters"`
	Type     string `json:"type" enum:"todo,call,email,message" doc:"How it is to be done"`
	Assignee *id.ID `json:"assignee" format:"uuid" nullable:"true" doc:"Who does it; null: the owner of the contact"`
}

// Todo is the type of a Task that says nothing else.
const Todo = "todo"

// Condition is a branch.
type Condition struct {
	Filter map[string]any  `json:"filter" nullable:"false"`
	Within *schedule.Delay `json:"within,omitempty" doc:"How long to wait for the filter to match; absent: not at all"`
	Then   string          `json:"then" doc:"Key of the step after a match, or end; empty: the next one"`
	Else   string          `json:"else" doc:"Key of the step without a match, or end; empty: the next one"`
}

// Descriptions implements wire.Describer.
func (Condition) Descriptions() map[string]string {
	return map[string]string{
		"filter": "Filter on fields of the contact and on replied, clicked, clicked_link and bounced, which are " +
			"about the mails of the enrolment",
	}
}

// Update is a change of the contact.
type Update struct {
	Set        map[string]any `json:"set" doc:"Fields of the contact with their values, as in a patch of the contact"`
	AddTags    []string       `json:"add_tags" nullable:"false" maxItems:"50" doc:"Tags that are added"`
	RemoveTags []string       `json:"remove_tags" nullable:"false" maxItems:"50" doc:"Tags that are removed"`
}

// Webhook sends sequence.step_reached to an endpoint of the org.
type Webhook struct {
	EndpointID id.ID `json:"endpoint_id" format:"uuid" doc:"ID of the webhook endpoint"`
}

// Source returns the parts of the mail that enrolments with the variant get; "": the mail itself.
func (e *Email) Source(variant string) compose.Source {
	out := compose.Source{Subject: e.Subject, HTML: e.HTML, Text: e.Text}
	for _, v := range e.Variants {
		if v.Key != variant {
			continue
		}
		if v.Subject != "" {
			out.Subject = v.Subject
		}
		// A body of its own replaces both parts, so that the text part never contradicts the HTML.
		if v.HTML != "" || v.Text != "" {
			out.HTML = v.HTML
			out.Text = v.Text
		}
	}

	return out
}
