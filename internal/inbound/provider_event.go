package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/provider"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// ErrReplayed is the error of Apply for a batch whose value Once was used by another request.
var ErrReplayed = errors.New("the request repeats the signature of another")

// Apply acts on the events of a mailbox's provider as on reports that come by mail, each once and in a transaction of
// its own. It returns the number of events that are new.
func (s *Service) Apply(ctx context.Context, r Route, b *provider.Batch) (fresh int, err error) {
	if len(b.Events) == 0 && b.Once != "" {
		return 0, s.DB.Tx(ctx, r.Org, func(tx *postgres.Tx) error {
			_, err := insertIdentity(ctx, tx, r.Mailbox, hashIdentity("once", b.Once))
			return err
		})
	}
	for i := range b.Events {
		isNew := false
		if err := s.DB.Tx(ctx, r.Org, func(tx *postgres.Tx) error {
			isNew, err = s.applyOneEvent(ctx, tx, r.Mailbox, b.Once, &b.Events[i])
			return err
		}); err != nil {
			return fresh, err
		}
		if isNew {
			fresh++
		}
	}

	return fresh, nil
}

// applyOneEvent acts on one event, and reports whether it is new. once is the value of its batch that only its request
// may have.
func (s *Service) applyOneEvent(ctx context.Context, tx *postgres.Tx, mailbox id.ID, once string, t *provider.Event) (
	bool, error,
) {
	repeats := false
	if once != "" {
		first, err := insertIdentity(ctx, tx, mailbox, hashIdentity("once", once))
		if err != nil {
			return false, err
		}
		repeats = !first
	}
	isNew, err := insertIdentity(ctx, tx, mailbox, hashIdentity("event", t.ID))
	if err != nil || !isNew {
		return false, err
	}

	if repeats {
		return false, ErrReplayed
	}

	tx.Queue(`UPDATE mailbox_provider SET last_event_at = now() WHERE org_id = $1 AND id = $2
		AND (last_event_at IS NULL OR last_event_at < now() - interval '1 minute')`, tx.Org(), mailbox)

	return true, s.applyEvent(ctx, tx, mailbox, t)
}

// insertIdentity inserts an identity, and reports whether it was not there.
func insertIdentity(ctx context.Context, tx *postgres.Tx, mailbox id.ID, identity []byte) (bool, error) {
	n, err := tx.Exec(ctx, `INSERT INTO provider_event (org_id, mailbox_id, identity, received_at)
		VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING`, tx.Org(), mailbox, identity)
	if err != nil {
		return false, fmt.Errorf("remember event: %w", err)
	}
	return n > 0, nil
}

// applyEvent writes what follows from an event. An event of a mail that the org has not sent has no effect.
func (s *Service) applyEvent(ctx context.Context, tx *postgres.Tx, mailbox id.ID, t *provider.Event) error {
	row, err := emailOf(ctx, tx, mailbox, t)
	if err != nil || row == nil {
		return err
	}
	at := wire.At(t.At)
	if t.At.IsZero() || t.At.After(time.Now()) || row.MarkedAt != nil && at.Before(row.MarkedAt.Time) {
		at = wire.Now()
	}
	e := &effects{
		mailbox: row.MailboxID, match: ByReferences, email: row, contact: row.ContactID, thread: &row.ThreadID, at: at,
		code: cleanText(t.Code, 20), recipient: cleanText(t.Recipient, maxAddress),
		diagnostic: cleanText(t.Diagnostic, 1000),
		subject:    row.Subject, from: foldAddress(row.To), messageID: &row.MessageID,
	}
	switch t.Kind {
	case provider.Delivered:
		e.class = classify.DeliveryReport
	case provider.Complained:
		e.class = classify.Complaint
	case provider.Unsubscribed:
		e.class = classify.Unsubscribe
	case provider.Bounced:
		e.class, e.bounce = classify.Bounce, classify.BounceOf(t.Code, t.Diagnostic, t.Permanent)
	default:
		return nil
	}
	if err := e.escalateBounce(ctx, tx); err != nil {
		return err
	}
	if err := s.suppressAddress(ctx, tx, e); err != nil {
		return err
	}

	return s.followUpEmail(ctx, tx, e)
}

// emailOf returns the email that an event is about, or nil. It is found by its Message-ID, or by the provider's id,
// which its server returned when it accepted the mail to the recipient.
func emailOf(ctx context.Context, tx *postgres.Tx, mailbox id.ID, t *provider.Event) (*emails.Row, error) {
	if t.MessageID != "" {
		found, err := emails.ByMessageIDs(ctx, tx, []string{cleanText(t.MessageID, 998)})
		if err != nil {
			return nil, err
		}
		if row, ok := found[t.MessageID]; ok {
			return &row, nil
		}
	}
	if t.Reference == "" || len(t.Reference) > emails.MaxServerID || t.Recipient == "" {
		return nil, nil //nolint:nilnil // no email
	}

	row, err := emails.ByServerID(ctx, tx, mailbox, []string{cleanText(t.Reference, emails.MaxServerID)})
	if err != nil || row == nil || foldAddress(row.To) != foldAddress(t.Recipient) {
		return nil, err
	}

	return row, nil
}
