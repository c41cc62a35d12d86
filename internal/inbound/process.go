package inbound

import (
	"context"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
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
	in, err := s.open(ctx, tx, message)
	if err != nil || in == nil {
		return err
	}
	if err := s.find(ctx, tx, in); err != nil {
		return err
	}
	in.store(tx)
	in.join(tx)
	if s.Ask != nil && in.is.Class == classify.Unknown && !in.own {
		if err := s.Ask(ctx, tx, in.id); err != nil {
			return err
		}
	}
	return s.act(ctx, tx, in.effects(in.is.Class))
}

// open locks and reads a message. It returns nil if it was processed already, or was erased.
func (s *Service) open(ctx context.Context, tx *postgres.Tx, message id.ID) (*incoming, error) {
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
	raw, err := s.Box.Open(sealed, about(tx.Org(), message))
	if err != nil {
		return nil, fmt.Errorf("open mail: %w", err)
	}
	in.mail = parse.Parse(raw)
	in.is = classify.Of(in.mail)
	in.from = filter.Fold(clean(in.mail.From.Email, maxAddress))
	return in, nil
}

// store queues what was read.
func (in *incoming) store(tx *postgres.Tx) {
	m := in.mail
	to := make([]string, 0, len(m.To))
	for _, a := range m.To[:min(len(m.To), 50)] {
		to = append(to, clean(a.Email, maxAddress))
	}
	var email *id.ID
	if in.email != nil {
		email = &in.email.ID
	}
	text := clean(m.Text, maxText)
	tx.Queue(`
		UPDATE message SET read_at = clock_timestamp(), thread_id = $3, contact_id = $4, email_id = $5, message_id = $6,
			from_email = $7, from_name = $8, from_folded = $9, to_emails = $10, subject = $11, text = $12, html = $13,
			reply_text = $14, class = $15, match = $16, own = $17, bounce = $18, code = $19, recipient = $20,
			diagnostic = $21, back_on = $22, attachments = $23
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), in.id, in.thread, in.contact, email, clean(m.MessageID, 998), clean(m.From.Email, maxAddress),
		clean(m.From.Name, 200), in.from, to, clean(m.Subject, maxSubject), text,
		SafeHTML(clean(m.HTML, maxHTML)), clean(in.is.Reply, maxReply), in.is.Class, in.match, in.own, in.is.Bounce,
		clean(in.is.Code, 20), clean(in.is.Recipient, maxAddress), clean(in.is.Diagnostic, 1000), in.is.Until,
		files(m.Attachments))
}

// join queues that the message belongs to its thread.
func (in *incoming) join(tx *postgres.Tx) {
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
		tx.Org(), in.thread, in.mailbox, in.contact, clean(subject, maxSubject),
		!classify.IsMachine(in.is.Class) && !in.own, in.received)
}

// clean returns s as a column can hold it: valid UTF-8 without NUL, at most limit bytes long.
func clean(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
}

// SetClass corrects the class of a message, and acts as if it had been received with it. What followed from the former
// class is undone, except for suppressions, which a person lifts. check, which may be nil, refuses an edit.
func (s *Service) SetClass(ctx context.Context, tx *postgres.Tx, message id.ID, class string,
	check func(edit int64) error,
) (Versioned, error) {
	e := effects{message: message}
	var (
		email, thread *id.ID
		edit          int
		former, by    string
	)
	err := tx.QueryRow(ctx, `
		SELECT edit, class, class_by, mailbox_id, contact_id, email_id, thread_id, match, own, received_at, bounce,
			code, recipient, diagnostic, subject, from_folded, nullif(message_id, ''), back_on
		FROM message WHERE org_id = $1 AND id = $2 AND read_at IS NOT NULL FOR UPDATE`, []any{tx.Org(), message},
		&edit, &former, &by, &e.mailbox, &e.contact, &email, &thread, &e.match, &e.own, &e.at, &e.bounce, &e.code,
		&e.recipient, &e.diagnostic, &e.subject, &e.from, &e.messageID, &e.back)
	if postgres.None(err) {
		return Versioned{}, missing()
	}
	if err != nil {
		return Versioned{}, fmt.Errorf("read message: %w", err)
	}
	if check != nil {
		if err := check(int64(edit)); err != nil {
			return Versioned{}, err
		}
	}
	if by == ByAI {
		former = classify.Unknown // nothing has followed from the opinion
	}
	if former == class && by == ByPerson {
		return Get(ctx, tx, message)
	}
	if e.own && !classify.IsMachine(class) {
		return Versioned{}, fault.Invalid("class", "own_mail", "The organization itself has sent this mail.")
	}
	if email != nil {
		full, err := emails.Get(ctx, tx, *email)
		if err != nil {
			return Versioned{}, err
		}
		e.email = &full.Row
	}
	tx.Queue(`UPDATE message SET class = $3, class_by = $4, edit = edit + 1 WHERE org_id = $1 AND id = $2`, tx.Org(),
		message, class, ByPerson)
	if former == class {
		return Get(ctx, tx, message)
	}
	e.class, e.former, e.thread = class, former, thread
	if err := s.act(ctx, tx, &e); err != nil {
		return Versioned{}, err
	}
	return Get(ctx, tx, message)
}
