package states

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// States.
const (
	Pending      = "pending"
	Active       = "active"
	Sending      = "sending"
	Paused       = "paused"
	Finished     = "finished"
	Replied      = "replied"
	Unsubscribed = "unsubscribed"
	Bounced      = "bounced"
	GoalMet      = "goal_met"
	Failed       = "failed"
	Removed      = "removed"
)

// All returns the states, the open ones first.
func All() []string {
	return []string{
		Pending, Active, Sending, Paused, Finished, Replied, Unsubscribed, Bounced, GoalMet, Failed, Removed,
	}
}

// IsOpen reports whether an enrolment with the state can still send.
func IsOpen(state string) bool { return slices.Contains(All()[:4], state) }

// Enrolment is the progress of one contact through a sequence.
type Enrolment struct {
	ID         id.ID      `json:"id" format:"uuid" doc:"ID of the enrolment"`
	SequenceID id.ID      `json:"sequence_id" format:"uuid" doc:"ID of the sequence"`
	Version    int        `json:"version" doc:"Version of the sequence that it follows"`
	ContactID  id.ID      `json:"contact_id" format:"uuid" doc:"ID of the enrolled contact"`
	MailboxID  id.ID      `json:"mailbox_id" format:"uuid" doc:"Mailbox that sends all its emails"`
	State      string     `json:"state"`
	Reason     *string    `json:"reason" doc:"Why it has the state, for programs; null: no special reason"`
	Step       string     `json:"step" doc:"Key of the step that is next or under way, or was the last"`
	TimeZone   string     `json:"time_zone" doc:"Time zone of its windows and delays"`
	DueAt      *wire.Time `json:"due_at" format:"date-time"`
	ResumeAt   *wire.Time `json:"resume_at" format:"date-time" doc:"When a pause ends by itself; null: it does not"`
	TaskID     *id.ID     `json:"task_id" format:"uuid" nullable:"true"`
	CreatedAt  wire.Time  `json:"created_at" format:"date-time" doc:"When the contact was enrolled"`
	StartedAt  *wire.Time `json:"started_at" format:"date-time" doc:"When its first step ran; null: none has yet"`
	StateAt    wire.Time  `json:"state_at" format:"date-time" doc:"When it got the state"`
	EndedAt    *wire.Time `json:"ended_at" format:"date-time" doc:"When it ended; null: it is open"`

	// Number is the number of the step, from 1. By is who enrolled the contact. Edit counts the changes.
	Number int    `json:"-"`
	By     string `json:"-"`
	Edit   int    `json:"-"`
	// Group is the row of send_group.
	Group int64 `json:"-"`
	// LastEmail is the last email that was sent; nil: none.
	LastEmail *id.ID `json:"-"`
	// Until is how long a condition waits; nil: it does not wait yet.
	Until *wire.Time `json:"-"`
}

// Descriptions implements wire.Describer.
func (Enrolment) Descriptions() map[string]string {
	return map[string]string{
		"state": "pending: the sequence is paused and nothing was sent; active: a step is due or waits; sending: an " +
			"email is on its way; paused: see reason; the others are ends",
		"task_id": "Task that it waits for; null: none",
		"due_at":  "When the step is due, windows and limits of the mailbox aside; null: it waits for something else",
	}
}

// Columns is the columns of an Enrolment, for Scan.
const Columns = `n.id, n.sequence_id, n.version, n.contact_id, n.mailbox_id, n.state, nullif(n.reason, ''),
	n.step, n.zone,
	n.due_at, n.resume_at, n.task_id, n.created_at, n.started_at, n.state_at, n.ended_at, n.step_number, n.created_by,
	n.edit, n.grp, n.last_email_id, n.until_at`

// Scan reads a row with Columns.
func Scan(row pgx.CollectableRow) (e Enrolment, err error) {
	err = row.Scan(&e.ID, &e.SequenceID, &e.Version, &e.ContactID, &e.MailboxID, &e.State, &e.Reason, &e.Step,
		&e.TimeZone, &e.DueAt, &e.ResumeAt, &e.TaskID, &e.CreatedAt, &e.StartedAt, &e.StateAt, &e.EndedAt, &e.Number,
		&e.By, &e.Edit, &e.Group, &e.LastEmail, &e.Until)
	return e, err
}

// Event returns the enrolment as events show it.
func (e *Enrolment) Event() events.Enrolment {
	out := events.Enrolment{
		ID: e.ID, SequenceID: e.SequenceID, ContactID: e.ContactID, Status: e.State, Step: e.Number, Reason: e.Reason,
		Version: e.Version, StepKey: e.Step, MailboxID: &e.MailboxID,
	}
	if e.State == Finished || e.State == GoalMet {
		out.Outcome = &e.State
	}
	return out
}

// endEvent returns the event of an enrolment that has ended; nil: it is open.
func (e *Enrolment) endEvent() events.Event {
	switch {
	case IsOpen(e.State):
		return nil
	case e.State == Replied:
		return events.SequenceReplied{Enrolment: e.Event()}
	case e.State == Finished, e.State == GoalMet:
		return events.SequenceFinished{Enrolment: e.Event()}
	default:
		return events.SequenceStopped{Enrolment: e.Event()}
	}
}
