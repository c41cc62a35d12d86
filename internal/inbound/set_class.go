package inbound

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// SetClass corrects the class of a message, or settles it, and acts as if it had been received with it. What followed
// from the former class is undone, except for suppressions, which a person lifts. check, which may be nil, refuses an
// edit.
func (s *Service) SetClass(ctx context.Context, tx *postgres.Tx, message id.ID, class string,
	check func(edit int64) error,
) (Versioned, error) {
	return s.setClass(ctx, tx, message, class, ByPerson, check)
}

func (s *Service) setClass(ctx context.Context, tx *postgres.Tx, message id.ID, class, setBy string,
	check func(edit int64) error,
) (Versioned, error) {
	e := effects{message: message}
	var (
		email, thread *id.ID
		edit          int
		former, by    string
		wasSure       bool
	)
	err := tx.QueryRow(ctx, `
		SELECT edit, class, sure, class_by, mailbox_id, contact_id, email_id, thread_id, match, own, received_at,
			bounce,
			code, recipient, diagnostic, subject, from_folded, nullif(message_id, ''), back_on
		FROM message WHERE org_id = $1 AND id = $2 AND read_at IS NOT NULL FOR UPDATE`, []any{tx.Org(), message},
		&edit, &former, &wasSure, &by, &e.mailbox, &e.contact, &email, &thread, &e.match, &e.own, &e.at,
		&e.bounce, &e.code,
		&e.recipient, &e.diagnostic, &e.subject, &e.from, &e.messageID, &e.back)
	if postgres.None(err) {
		return Versioned{}, notFoundFault()
	}
	if err != nil {
		return Versioned{}, fmt.Errorf("read message: %w", err)
	}

	if check != nil {
		if err := check(int64(edit)); err != nil {
			return Versioned{}, err
		}
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
	e.inDoubt = class == classify.Unknown
	tx.Queue(`UPDATE message SET class = $3, sure = $4, class_by = $5, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), message, class, !e.inDoubt || e.own, setBy)
	if former == class && wasSure {
		return Get(ctx, tx, message)
	}

	if !wasSure {
		former = classify.Unknown // nothing has followed from it
	}
	e.class, e.former, e.thread = class, former, thread
	if err := s.writeEffects(ctx, tx, &e); err != nil {
		return Versioned{}, err
	}

	return Get(ctx, tx, message)
}
