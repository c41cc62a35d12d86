package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// How the email that a message is about was found.
const (
	ByToken      = "token"
	ByReferences = "references"
	BySender     = "sender"
	NoMatch      = "none"
)

// Who gave a message its class.
const (
	ByRule   = "rule"
	ByPerson = "person"
	ByAI     = "ai" // the opinion of a language model on what the rules were not sure of
)

// Directions of a message.
const (
	In  = "in"
	Out = "out"
)

// Message is a mail of a thread as the API shows it.
type Message struct {
	ID          id.ID        `json:"id" format:"uuid" doc:"ID of the message; of an outgoing one, the ID of its email"`
	ThreadID    id.ID        `json:"thread_id" format:"uuid" doc:"Thread of the message"`
	Direction   string       `json:"direction" enum:"in,out" doc:"in: received; out: sent by the organization"`
	MailboxID   id.ID        `json:"mailbox_id" format:"uuid" doc:"Mailbox that received or sent it"`
	ContactID   *id.ID       `json:"contact_id" format:"uuid" nullable:"true"`
	EmailID     *id.ID       `json:"email_id" format:"uuid" nullable:"true"`
	MessageID   *string      `json:"message_id" doc:"Message-ID without angle brackets; null: the mail has none"`
	From        string       `json:"from" doc:"Address of the sender; empty: it is not legible"`
	FromName    string       `json:"from_name" doc:"Name of the sender; empty: none"`
	To          []string     `json:"to" doc:"Addresses of the recipients"`
	Subject     string       `json:"subject" doc:"Subject of the mail"`
	Text        string       `json:"text" doc:"Text of the mail; made from the HTML if it has no text part"`
	HTML        *string      `json:"html"`
	ReplyText   string       `json:"reply_text" doc:"Text without the quoted mail and the signature"`
	Class       *string      `json:"class" enum:"human,auto_reply,bounce,complaint,unsubscribe_request,list,delivery_report,unknown"` //nolint:lll // a tag cannot be broken
	Sure        *bool        `json:"sure"`
	ClassBy     *string      `json:"class_by" enum:"rule,person,ai"`
	Match       *string      `json:"match" enum:"token,references,sender,none"`
	Bounce      *string      `json:"bounce" enum:"hard,soft,delayed,policy"`
	Code        *string      `json:"code" doc:"Enhanced status code or reply code of a bounce; null: none"`
	Recipient   *string      `json:"recipient" doc:"Address that a report is about; null: it is no report, or not said"`
	Diagnostic  *string      `json:"diagnostic" doc:"Reply of the server that a bounce quotes; null: none"`
	BackOn      *string      `json:"back_on" format:"date"`
	Attachments []Attachment `json:"attachments" doc:"Files of the mail, which are not kept"`
	ReceivedAt  wire.Time    `json:"received_at" format:"date-time" doc:"When it was received, or sent"`
}

// Descriptions implements wire.Describer.
func (Message) Descriptions() map[string]string {
	return map[string]string{
		"contact_id": "Contact who wrote it, or to whom it was sent; null: no contact has the address",
		"email_id":   "The email that it answers or tells about; of an outgoing message, its email; null: none",
		"html":       "HTML of the mail without scripts, styles and pictures; null: it has none",
		"class":      "What the mail is; null: an outgoing message",
		"sure": "Whether the class is sure. If it is not, the enrolment of the contact is paused with the reason " +
			"reply_unsure, and nothing else follows until the class is set; null: an outgoing message",
		"class_by": "Who gave it its class: rule; person for one that was corrected or settled; ai for the opinion " +
			"of a language model on one that was not sure, from which nothing follows if it is unsubscribe_request, " +
			"until a person confirms it; null: an outgoing message",
		"match": "How the email was found that it answers or tells about; null: an outgoing message",
		"bounce": "hard: no such address; soft: a full mailbox or another temporary failure; delayed: not delivered " +
			"yet; policy: the mail or its sender was refused; null: no bounce",
		"back_on": "Day on which the person is back, as an automatic reply says; null: it does not say",
	}
}

// Attachment describes a file of a message.
type Attachment struct {
	Name string `json:"name" doc:"Name of the file; empty: it has none"`
	Type string `json:"type" doc:"Media type of the file"`
	Size int    `json:"size" doc:"Size of the file in bytes"`
}

// Versioned is a message with the counter of its ETag.
type Versioned struct {
	Message
	Edit int
}

const columns = `id, thread_id, mailbox_id, contact_id, email_id, nullif(message_id, ''), from_email, from_name,
	to_emails, subject, text, nullif(html, ''), reply_text, class, sure, class_by, match, bounce, code, recipient,
	diagnostic, back_on, attachments, received_at, edit`

func scanMessage(row pgx.CollectableRow) (v Versioned, err error) {
	var (
		m                                       = &v.Message
		class, by, match                        string
		bounce, code, recipient, diagnosticText string
		back                                    *time.Time
		isSure                                  bool
	)
	err = row.Scan(&m.ID, &m.ThreadID, &m.MailboxID, &m.ContactID, &m.EmailID, &m.MessageID, &m.From, &m.FromName,
		&m.To, &m.Subject, &m.Text, &m.HTML, &m.ReplyText, &class, &isSure, &by, &match, &bounce, &code, &recipient,
		&diagnosticText,
		&back, &m.Attachments, &m.ReceivedAt, &v.Edit)
	m.Direction, m.Class, m.Sure, m.ClassBy, m.Match = In, &class, &isSure, &by, &match
	m.Bounce, m.Code = orNull(bounce), orNull(code)
	m.Recipient, m.Diagnostic = orNull(recipient), orNull(diagnosticText)
	if back != nil {
		m.BackOn = new(back.Format(time.DateOnly))
	}

	return v, err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Get returns an incoming message that was read. The error is a not_found fault if there is none.
func Get(ctx context.Context, tx *postgres.Tx, message id.ID) (Versioned, error) {
	all, err := selectRows(ctx, tx, `id = $2`, message)
	if err != nil {
		return Versioned{}, err
	}
	if len(all) == 0 {
		return Versioned{}, notFoundFault()
	}
	return all[0], nil
}

func notFoundFault() error { return fault.New(fault.NotFound, "There is no such message.") }

// Held returns every message of a contact, oldest first.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]Versioned, error) {
	return selectRows(ctx, tx, `contact_id = $2 ORDER BY id`, contact)
}

// selectRows returns the messages of a condition, in which $2 is arg.
func selectRows(ctx context.Context, tx *postgres.Tx, where string, arg any) ([]Versioned, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM message WHERE org_id = $1 AND read_at IS NOT NULL AND `+where,
		tx.Org(), arg)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanMessage)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	return all, nil
}

// shownAttachments returns the attachments of a mail as they are shown.
func shownAttachments(all []parse.Attachment) []Attachment {
	out := make([]Attachment, len(all))
	for i, f := range all {
		out[i] = Attachment{Name: cleanText(f.Name, 255), Type: cleanText(f.Type, 200), Size: f.Size}
	}
	return out
}
