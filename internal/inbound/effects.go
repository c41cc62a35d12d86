package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// effects is what follows from a message.
type effects struct {
	message, mailbox id.ID
	class            string
	inDoubt          bool   // nothing follows until a person has settled the class
	former           string // class that a person has corrected; "": the message is new
	match            string
	own              bool
	elsewhere        bool        // the message is new, and from another address than the email's
	email            *emails.Row // nil: none
	contact, thread  *id.ID
	at               wire.Time
	messageID        *string
	back             *time.Time // the day that an automatic reply names

	bounce, code, recipient, diagnostic, subject, from string
}

func (in *incoming) newEffects() *effects {
	return &effects{
		message: in.id, mailbox: in.mailbox, class: in.is.Class, inDoubt: !in.is.Sure, match: in.match, own: in.own,
		email:   in.email,
		contact: in.contact, thread: &in.thread, at: in.received, bounce: in.is.Bounce, code: in.is.Code,
		recipient: in.is.Recipient, diagnostic: in.is.Diagnostic, subject: cleanText(in.mail.Subject, maxSubject),
		from: in.from, messageID: orNull(cleanText(in.mail.MessageID, 998)), back: in.is.Until,
		elsewhere: in.isFromElsewhere(),
	}
}

// writeEffects writes what follows from a message.
func (s *Service) writeEffects(ctx context.Context, tx *postgres.Tx, e *effects) error {
	if e.own {
		return nil
	}
	if e.former == "" {
		if err := events.Announce(ctx, tx, events.EmailReceived{Email: e.receivedEvent()}); err != nil {
			return err
		}
	}
	if err := e.escalateBounce(ctx, tx); err != nil {
		return err
	}
	if err := s.suppressAddress(ctx, tx, e); err != nil {
		return err
	}

	if e.email == nil {
		return e.stopEnrolments(ctx, tx)
	}

	if e.former != "" {
		if err := s.undoFormerClass(ctx, tx, e); err != nil {
			return err
		}
	}

	return s.followUpEmail(ctx, tx, e)
}

// followUpEmail writes what follows for the email and its enrolment.
func (s *Service) followUpEmail(ctx context.Context, tx *postgres.Tx, e *effects) error {
	if err := s.recordOutcome(ctx, tx, e); err != nil {
		return err
	}
	return e.stopEnrolments(ctx, tx)
}

// recordOutcome records in the email what the message tells about it.
func (s *Service) recordOutcome(ctx context.Context, tx *postgres.Tx, e *effects) error {
	if e.isReport() && !e.isProven() {
		return nil
	}
	switch {
	case e.inDoubt:
	case e.class == classify.Bounce:
		return e.recordBounce(ctx, tx)
	case e.class == classify.Complaint:
		return mailboxes.Judge(ctx, tx, e.email.MailboxID, func() error {
			return e.recordFact(ctx, tx, emails.Incoming{ComplainedAt: &e.at})
		})
	case e.class == classify.DeliveryReport:
		return e.recordFact(ctx, tx, emails.Incoming{DeliveredAt: &e.at})
	case e.class == classify.Human:
		e.asReply().LockFor(tx)
		if err := e.recordFact(ctx, tx, emails.Incoming{RepliedAt: &e.at}); err != nil {
			return err
		}
		tx.Queue(`INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, machine, why, at)
			VALUES ($1, $2, $3, $4, 'replied', false, '{}', $5) ON CONFLICT DO NOTHING`,
			tx.Org(), e.message, e.email.ID, e.email.ContactID, e.at)
		return s.enqueueScoring(ctx, tx, e)
	}

	e.asReply().LockFor(tx)

	return e.recordFact(ctx, tx, emails.Incoming{}) // an answer proves that the mail was sent
}

// receivedEvent is the message as email.received shows it.
func (e *effects) receivedEvent() events.Email {
	return events.Email{
		ID: e.message, ContactID: e.contact, MailboxID: e.mailbox, Subject: e.subject, MessageID: e.messageID,
		ThreadID: e.thread, Evidence: []events.EmailEvidence{}, Why: []string{}, Class: &e.class, Sure: new(!e.inDoubt),
	}
}

// isReport reports whether the message is a program's about a mail of ours.
func (e *effects) isReport() bool {
	return e.class == classify.Bounce || e.class == classify.Complaint || e.class == classify.DeliveryReport
}

// isProven reports whether the message names its email by what only those know who have had it: its Message-ID, its
// own address, or the id that the server has given it. Anybody can write any other report, so it is only shown.
func (e *effects) isProven() bool {
	return e.email != nil && (e.match == ByToken || e.match == ByReferences)
}

// isOfAddress reports whether a soft bounce counts towards a hard one: what is the fault of the sender or of the mail
// says nothing of the address, however often it comes.
func (e *effects) isOfAddress() bool {
	d := classify.Diagnose(e.code, e.diagnostic)
	return d.About == diagnosis.Recipient || d.About == diagnosis.Network && d.Reason != diagnosis.Unclear
}

// escalateBounce makes the third soft bounce of an address a hard one.
func (e *effects) escalateBounce(ctx context.Context, tx *postgres.Tx) error {
	if e.class != classify.Bounce || e.bounce != classify.Soft || !e.isProven() || !e.isOfAddress() {
		return nil
	}
	last, err := emails.IsLastSoft(ctx, tx, e.email, e.at.Time)
	if last {
		e.bounce = classify.Hard
	}
	return err
}

// suppressAddress suppresses the address of a hard bounce, a complaint or an unsubscription. Only escalateBounce locks
// before it.
func (s *Service) suppressAddress(ctx context.Context, tx *postgres.Tx, e *effects) error {
	n := suppression.New{
		Source: "reply", Email: e.from, Purpose: suppression.Marketing, Reason: suppression.Unsubscribe,
	}
	switch {
	case e.class == classify.Bounce && e.bounce == classify.Hard && e.isProven():
		n = suppression.New{
			Source: "bounce", Email: e.email.To, Purpose: suppression.All, Reason: suppression.HardBounce,
			Note: e.diagnostic,
		}
	case e.class == classify.Complaint && e.isProven():
		n = suppression.New{
			Source: "complaint", Email: e.email.To, Purpose: suppression.All, Reason: suppression.Complaint,
		}
	case e.class == classify.Unsubscribe && e.elsewhere: // the contact's own address waits for a person
		if e.from == "" {
			return nil
		}
		_, _, err := s.Suppressions.Add(ctx, tx, n)
		return err
	case e.class == classify.Unsubscribe && !e.inDoubt && e.contact != nil:
		if e.email != nil {
			n.Email = e.email.To
		}
	default:
		return nil
	}

	if n.Email == "" { // the contact was purged
		return nil
	}
	_, added, err := s.Suppressions.Add(ctx, tx, n)
	if err != nil || !added || n.Reason != suppression.Unsubscribe {
		return err
	}

	row, err := contacts.Get(ctx, tx, *e.contact, true)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read contact: %w", err)
	}

	return events.Announce(ctx, tx, events.ContactUnsubscribed{Contact: row.Contact})
}

// recordBounce records a bounce. A delayed mail may still be delivered.
func (e *effects) recordBounce(ctx context.Context, tx *postgres.Tx) error {
	f := emails.Incoming{Bounced: "soft", Code: e.code}
	switch e.bounce {
	case classify.Delayed:
		return e.recordFact(ctx, tx, emails.Incoming{})
	case classify.Hard:
		f.Bounced = "hard"
	case classify.Soft:
		f.Soft = &e.at
	}
	return mailboxes.Judge(ctx, tx, e.email.MailboxID, func() error { return e.recordFact(ctx, tx, f) })
}

// recordFact writes a fact to the email.
func (e *effects) recordFact(ctx context.Context, tx *postgres.Tx, f emails.Incoming) error {
	f.Proves = e.match == ByToken || e.match == ByReferences
	f.Class = e.class
	err := emails.Record(ctx, tx, e.email.ID, &f)
	if errors.Is(err, emails.ErrGone) {
		return nil
	}
	return err
}

// enqueueScoring enqueues the scoring of the contact whose replies have changed.
func (s *Service) enqueueScoring(ctx context.Context, tx *postgres.Tx, e *effects) error {
	if e.email.ContactID == nil {
		return nil
	}
	return s.Rescore(ctx, tx, *e.email.ContactID)
}

// undoFormerClass takes back what followed from the former class, unless another message says the same.
func (s *Service) undoFormerClass(ctx context.Context, tx *postgres.Tx, e *effects) error {
	if e.former == classify.Human {
		tx.Queue(`DELETE FROM email_fact WHERE org_id = $1 AND id = $2`, tx.Org(), e.message)
		if err := s.enqueueScoring(ctx, tx, e); err != nil {
			return err
		}
	}
	var others int
	err := tx.QueryRow(ctx, `
		SELECT count(*) FROM message WHERE org_id = $1 AND email_id = $2 AND id <> $3 AND class = $4`,
		[]any{tx.Org(), e.email.ID, e.message, e.former}, &others)
	if err != nil {
		return fmt.Errorf("count messages: %w", err)
	}

	if others > 0 {
		return nil
	}

	switch e.former {
	case classify.Human:
		emails.Forget(tx, e.email.ID, "replied_at")
	case classify.Complaint:
		emails.Forget(tx, e.email.ID, "complained_at")
	case classify.DeliveryReport:
		emails.Forget(tx, e.email.ID, "delivered_at")
	case classify.Bounce:
		emails.Forget(tx, e.email.ID, "bounced")
	}

	return nil
}
