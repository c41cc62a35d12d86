package events

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The short forms of catalogue objects in timelines, and the id that an entry refers to.

type contactBrief struct {
	ID        id.ID   `json:"id"`
	Email     string  `json:"email"`
	FirstName string  `json:"first_name"`
	LastName  string  `json:"last_name"`
	Stage     string  `json:"stage"`
	LeadScore float64 `json:"lead_score"`
}

func (c Contact) brief() any {
	return contactBrief{c.ID, c.Email, c.FirstName, c.LastName, c.Stage, c.LeadScore}
}
func (c Contact) subject() id.ID { return c.ID }

func (t Tagging) subject() id.ID { return t.ContactID }

func (m Merge) subject() id.ID { return m.ID }

func (m Membership) subject() id.ID { return m.SegmentID }

type dealBrief struct {
	ID         id.ID   `json:"id"`
	Name       string  `json:"name"`
	Status     string  `json:"status"`
	StageID    id.ID   `json:"stage_id"`
	Amount     int64   `json:"amount"`
	Currency   string  `json:"currency"`
	LostReason *string `json:"lost_reason"`
}

func (d Deal) brief() any {
	return dealBrief{d.ID, d.Name, d.Status, d.StageID, d.Amount, d.Currency, d.LostReason}
}
func (d Deal) subject() id.ID { return d.ID }

type taskBrief struct {
	ID         id.ID      `json:"id"`
	Title      string     `json:"title"`
	Status     string     `json:"status"`
	DueAt      *wire.Time `json:"due_at"`
	AssigneeID *id.ID     `json:"assignee_id"`
}

func (t Task) brief() any          { return taskBrief{t.ID, t.Title, t.Status, t.DueAt, t.AssigneeID} }
func (e Enrolment) subject() id.ID { return e.ID }

func (t Task) subject() id.ID { return t.ID }

type activityBrief struct {
	ID   id.ID  `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

func (a Activity) brief() any     { return activityBrief{a.ID, a.Kind, excerpt(a.Text)} }
func (a Activity) subject() id.ID { return a.ID }

type emailBrief struct {
	ID           id.ID   `json:"id"`
	Subject      string  `json:"subject"`
	Status       string  `json:"status"`
	StatusReason *string `json:"status_reason"`
	Class        *string `json:"class"`
	ThreadID     *id.ID  `json:"thread_id"`
}

func (e Email) brief() any {
	return emailBrief{e.ID, e.Subject, e.Status, e.StatusReason, e.Class, e.ThreadID}
}

func (e Email) subject() id.ID { return e.ID }
