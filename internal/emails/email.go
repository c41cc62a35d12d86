package emails

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Statuses of an email.
const (
	Scheduled    = "scheduled"
	Planned      = "planned"
	Transmitting = "transmitting"
	Sent         = "sent"
	Unknown      = "unknown"
	Failed       = "failed"
	Cancelled    = "cancelled"
)

// Purposes of an email.
const (
	Personal  = "personal"
	Marketing = suppression.Marketing
)

// Reasons of a status.
const (
	ByPerson        = "cancelled_by_person"
	Suppressed      = "suppressed"
	ContactArchived = "contact_archived"
	OrgReadOnly     = "org_read_only"
	PlanLimit       = "plan_limit_reached"
	Late            = "late"
	Rejected        = "rejected"
	Exhausted       = "attempts_exhausted"
	BadAddress      = "address_not_allowed"
	Stopped         = "job_stopped"
	NoReply         = "no_reply"
	Interrupted     = "interrupted"
	NotSent         = "not_sent"
)

const absent = "There is no such email."

// Email is an email as the API shows it.
type Email struct {
	ID           id.ID      `json:"id" format:"uuid" doc:"ID of the email"`
	ContactID    *id.ID     `json:"contact_id" format:"uuid" nullable:"true"`
	MailboxID    id.ID      `json:"mailbox_id" format:"uuid" doc:"Mailbox that the email is sent from"`
	ThreadID     id.ID      `json:"thread_id" format:"uuid" doc:"ID of the first email of the thread"`
	ReplyToID    *id.ID     `json:"in_reply_to_email_id" format:"uuid" nullable:"true"`
	EnrolmentID  *id.ID     `json:"enrolment_id" format:"uuid" nullable:"true"`
	Step         *string    `json:"step" doc:"Key of the sequence's step; null: of no sequence"`
	Variant      *string    `json:"variant" doc:"Key of the variant of an A/B test; null: none"`
	BroadcastID  *id.ID     `json:"broadcast_id" format:"uuid" nullable:"true"`
	Purpose      string     `json:"purpose" enum:"personal,marketing"`
	To           string     `json:"to" doc:"Address of the recipient; empty once the contact was purged"`
	Subject      string     `json:"subject" doc:"Subject, with the contact's values"`
	MessageID    string     `json:"message_id" doc:"Message-ID of the mail, without angle brackets"`
	Status       string     `json:"status" enum:"scheduled,planned,transmitting,sent,unknown,failed,cancelled"`
	StatusReason *string    `json:"status_reason"`
	ScheduledAt  *wire.Time `json:"scheduled_at" format:"date-time" doc:"When it is to be sent; null: at once"`
	MarkedAt     *wire.Time `json:"marked_at" format:"date-time"`
	SentAt       *wire.Time `json:"sent_at" format:"date-time" doc:"When the server accepted it; null: not known"`
	SMTPReply    *string    `json:"smtp_reply" doc:"Last reply of the mail server; null: none"`
	Evidence     []Evidence `json:"evidence" doc:"What settled an unknown email, or was found out about it"`
	Tracking     Tracking   `json:"tracking" doc:"What is tracked of the email"`
	Facts        Facts      `json:"facts" doc:"What became of the email after it was sent"`
	CreatedAt    wire.Time  `json:"created_at" format:"date-time" doc:"When the email was created"`
	UpdatedAt    wire.Time  `json:"updated_at" format:"date-time" doc:"When a person last changed it"`

	automated bool
}

// Descriptions implements wire.Describer.
func (Email) Descriptions() map[string]string {
	return map[string]string{
		"contact_id":           "The recipient; null once the contact was purged",
		"in_reply_to_email_id": "The email that this one answers; null: none",
		"enrolment_id":         "The enrolment that sent it; null: no sequence did",
		"broadcast_id":         "The broadcast that sent it; null: none did",
		"purpose": "marketing: an unsubscription stops the email; personal: only a suppression of all mail " +
			"does",
		"status": "unknown: the server's answer to the mail was not received, so it may have been sent; it is " +
			"not sent again by itself",
		"status_reason": "Why it has the status, for programs, such as suppressed or rejected; null: no special reason",
		"marked_at":     "When its transmission could no longer be stopped; null: nothing was transmitted",
	}
}

// Tracking is what is tracked of an email.
type Tracking struct {
	Opens  bool `json:"opens" doc:"Whether opens may be tracked"`
	Clicks bool `json:"clicks" doc:"Whether clicks may be tracked"`
}

// Facts is what became of an email after it was sent.
type Facts struct {
	DeliveredAt   *wire.Time `json:"delivered_at" format:"date-time" doc:"When its delivery was confirmed, or null"`
	Bounced       *string    `json:"bounced" enum:"hard,soft" doc:"hard: no such address; soft: temporary; null: no"`
	ComplainedAt  *wire.Time `json:"complained_at" format:"date-time" doc:"When it was reported as spam; null: never"`
	RepliedAt     *wire.Time `json:"replied_at" format:"date-time" doc:"When a person replied; null: never"`
	Opens         int        `json:"opens" doc:"Opens by people"`
	MachineOpens  int        `json:"machine_opens" doc:"Opens by proxies and scanners"`
	Clicks        int        `json:"clicks" doc:"Clicks by people"`
	MachineClicks int        `json:"machine_clicks" doc:"Clicks by scanners"`
}

// Evidence is what was found out about an email whose fate was unknown.
type Evidence struct {
	Kind   string    `json:"kind" enum:"sent_folder,person,incoming_mail"`
	Result string    `json:"result" doc:"found or absent of a search; sent or not_sent of a person"`
	At     wire.Time `json:"at" format:"date-time" doc:"When it was found out"`
	By     string    `json:"by" doc:"The person or API key, such as user/<id>; empty for a search"`
}

// Descriptions implements wire.Describer.
func (Evidence) Descriptions() map[string]string {
	return map[string]string{
		"kind": "sent_folder: a search in the mailbox's Sent folder; person: someone resolved it; incoming_mail: an " +
			"answer or a report names the mail",
	}
}

// Kinds and results of an Evidence.
const (
	SentFolder   = "sent_folder"
	Person       = "person"
	IncomingMail = "incoming_mail"
	Found        = "found"
	Absent       = "absent"
)

// Row is an email with the counters of its ETag.
type Row struct {
	Email
	Edit, Computed int
}

const columns = `edit, computed, id, contact_id, mailbox_id, thread_id, reply_to_id, enrolment_id, step, variant,
	broadcast_id, automated, purpose, to_email, subject, message_id, status, nullif(status_reason, ''), scheduled_at,
	marked_at, sent_at, nullif(smtp_reply, ''), evidence, track_opens, track_clicks, delivered_at, bounced,
	complained_at, replied_at, opens, machine_opens, clicks, machine_clicks, created_at, updated_at`

// targets returns the destinations of columns.
func (r *Row) targets() []any {
	e := &r.Email
	return []any{
		&r.Edit, &r.Computed, &e.ID, &e.ContactID, &e.MailboxID, &e.ThreadID, &e.ReplyToID, &e.EnrolmentID, &e.Step,
		&e.Variant, &e.BroadcastID, &e.automated, &e.Purpose, &e.To, &e.Subject, &e.MessageID, &e.Status,
		&e.StatusReason, &e.ScheduledAt, &e.MarkedAt, &e.SentAt, &e.SMTPReply, &e.Evidence, &e.Tracking.Opens,
		&e.Tracking.Clicks, &e.Facts.DeliveredAt, &e.Facts.Bounced, &e.Facts.ComplainedAt, &e.Facts.RepliedAt,
		&e.Facts.Opens, &e.Facts.MachineOpens, &e.Facts.Clicks, &e.Facts.MachineClicks, &e.CreatedAt, &e.UpdatedAt,
	}
}

func scanRow(row pgx.CollectableRow) (r Row, err error) {
	err = row.Scan(r.targets()...)
	return r, err
}

// DefaultResolveAfter is how long after its mark a person may resolve an unknown email, unless a setting says
// otherwise.
const DefaultResolveAfter = 15 * time.Minute

// Service creates and sends emails. It is safe for concurrent use.
type Service struct {
	Box          *secret.Sealer // opens the keys of the orgs and the passwords of mailboxes
	Mailboxes    *mailboxes.Service
	Suppressions *suppression.Service
	ResolveAfter time.Duration // 0: DefaultResolveAfter
	PublicURL    string        // base of pixels and links, without a slash at the end; "": no email is tracked
	// InboundDomain is the domain of which the listener takes all mail: emails of mailboxes whose reply_to is there
	// have addresses of their own. "": none.
	InboundDomain string
}

func (s *Service) resolveAfter() time.Duration {
	if s.ResolveAfter > 0 {
		return s.ResolveAfter
	}
	return DefaultResolveAfter
}

// Automated reports whether a sequence or a broadcast sends the email.
func (e *Email) Automated() bool { return e.automated }

// Statuses returns the statuses of an email.
func Statuses() []string {
	return []string{Scheduled, Planned, Transmitting, Sent, Unknown, Failed, Cancelled}
}

// IsStatus reports whether s is a status of an email.
func IsStatus(s string) bool { return slices.Contains(Statuses(), s) }
