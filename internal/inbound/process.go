package inbound

import (
	"context"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Lengths of what is stored.
const (
	maxSubject = 2000
	maxText    = 256 << 10
	maxHTML    = 512 << 10
	maxReply   = 64 << 10
	maxAddress = 320
)

// incoming is a message that is being processed.
type incoming struct {
	id, mailbox id.ID
	received    wire.Time
	mail        *parse.Mail
	is          classify.Result

	from    string // folded
	own     bool
	match   string
	email   *emails.Row // nil: none
	contact *id.ID
	thread  id.ID
}

// Process reads a message and acts on it, once.
func (s *Service) Process(ctx context.Context, tx *postgres.Tx, message id.ID) error {
	in, err := s.lockUnprocessed(ctx, tx, message)
	if err != nil || in == nil {
		return err
	}
	if err := s.findEmail(ctx, tx, in); err != nil {
		return err
	}
	if err := s.readAnswer(ctx, tx, in); err != nil {
		return err
	}
	in.queueStore(tx)
	in.queueThread(tx)
	if s.Ask != nil && !in.is.Sure && !in.own && isForModel(in.is.Class) {
		if err := s.Ask(ctx, tx, in.id); err != nil {
			return err
		}
	}

	return s.writeEffects(ctx, tx, in.newEffects())
}

// lockUnprocessed locks and reads a message. It returns nil if it was processed already, or was erased.
func (s *Service) lockUnprocessed(ctx context.Context, tx *postgres.Tx, message id.ID) (*incoming, error) {
	in := &incoming{id: message, thread: message, match: NoMatch}
	var sealed []byte
	err := tx.QueryRow(ctx, `
		SELECT m.mailbox_id, m.received_at, r.raw FROM message m
		JOIN message_raw r ON r.org_id = m.org_id AND r.id = m.id
		WHERE m.org_id = $1 AND m.id = $2 AND m.read_at IS NULL FOR UPDATE OF m`, []any{tx.Org(), message}, &in.mailbox,
		&in.received, &sealed)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // nothing to do
	}
	if err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}

	raw, err := s.Box.Open(sealed, sealContext(tx.Org(), message))
	if err != nil {
		return nil, fmt.Errorf("open mail: %w", err)
	}

	in.mail = parse.Parse(raw)
	in.is = classify.Of(in.mail)
	in.from = compare.Address(cleanText(in.mail.From.Email, maxAddress))

	return in, nil
}

// readAnswer reads a message again once the email that it is about is known: what it has of that email says nothing.
func (s *Service) readAnswer(ctx context.Context, tx *postgres.Tx, in *incoming) error {
	if in.email == nil {
		return nil
	}
	text, html, err := emails.TextOf(ctx, tx, in.email.ID)
	if err != nil {
		return err
	}
	if html != "" {
		text += "\n" + parse.TextOf(html)
	}
	wasReport := in.isReport()
	in.is = classify.About(in.mail, &classify.Answered{
		Subject: in.email.Subject, Text: text, Named: in.match == ByToken || in.match == ByReferences,
		ByRecipient: in.isFrom(in.email.To),
	})
	in.is.For(foldAddress(in.email.To))
	if in.is.Class == classify.Unsubscribe && in.isFromElsewhere() {
		in.is.Sure = false
	}
	if wasReport == in.isReport() {
		return nil
	}
	in.email, in.match, in.thread = nil, NoMatch, in.id

	return s.findEmail(ctx, tx, in)
}

// isReport reports whether the mail is about the fate of an email.
func (in *incoming) isReport() bool {
	return in.is.Class == classify.Bounce || in.is.Class == classify.Complaint ||
		in.is.Class == classify.DeliveryReport
}

// queueStore queues what was read.
func (in *incoming) queueStore(tx *postgres.Tx) {
	m := in.mail
	to := make([]string, 0, len(m.To))
	for _, a := range m.To[:min(len(m.To), 50)] {
		to = append(to, cleanText(a.Email, maxAddress))
	}
	var email *id.ID
	if in.email != nil {
		email = &in.email.ID
	}
	text := cleanText(m.Text, maxText)
	tx.Queue(`
		UPDATE message SET read_at = clock_timestamp(), thread_id = $3, contact_id = $4, email_id = $5, message_id = $6,
			from_email = $7, from_name = $8, from_folded = $9, to_emails = $10, subject = $11, text = $12, html = $13,
			reply_text = $14, class = $15, match = $16, own = $17, bounce = $18, code = $19, recipient = $20,
			diagnostic = $21, back_on = $22, attachments = $23, sure = $24
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), in.id, in.thread, in.contact, email, cleanText(m.MessageID, 998), cleanText(m.From.Email, maxAddress),
		cleanText(m.From.Name, 200), in.from, to, cleanText(m.Subject, maxSubject), text,
		SafeHTML(cleanText(m.HTML, maxHTML)), cleanText(in.is.Reply, maxReply), in.is.Class, in.match, in.own,
		in.is.Bounce, cleanText(in.is.Code, 20), cleanText(in.is.Recipient, maxAddress),
		cleanText(in.is.Diagnostic, 1000), in.is.Until,
		shownAttachments(m.Attachments), in.is.Sure || in.own)
}

// queueThread queues that the message belongs to its thread.
func (in *incoming) queueThread(tx *postgres.Tx) {
	subject := in.mail.Subject
	if in.email != nil && in.email.ThreadID == in.thread {
		subject = in.email.Subject
	}
	tx.Queue(`
		INSERT INTO thread (org_id, id, mailbox_id, contact_id, subject, incoming, unread, last_message_at, created_at)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $7)
		ON CONFLICT (org_id, id) DO UPDATE SET incoming = thread.incoming + 1,
			unread = thread.unread OR excluded.unread,
			last_message_at = greatest(thread.last_message_at, excluded.last_message_at),
			contact_id = coalesce(thread.contact_id, excluded.contact_id), computed = thread.computed + 1`,
		tx.Org(), in.thread, in.mailbox, in.contact, cleanText(subject, maxSubject),
		!classify.IsMachine(in.is.Class) && !in.own, in.received)
}

// cleanText returns s as a column can hold it: valid UTF-8 without NUL, at most limit bytes long.
func cleanText(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
}
