package broadcasts

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// BroadcastState is a broadcast with what it waits for.
type BroadcastState struct {
	Broadcast
	mailboxes.Wait
}

// Reasons of a broadcast that waits, beside those of its mailbox.
const (
	ByPerson    = "paused_by_user"
	MailboxGone = "mailbox_deleted"
)

// senderStopped is the condition that the mailbox of a broadcast does not send in its state.
const senderStopped = `NOT EXISTS (SELECT FROM mailbox m WHERE m.org_id = broadcast.org_id
	AND m.id = broadcast.mailbox_id AND m.archived_at IS NULL AND (m.status = 'active'
		OR m.status = 'held' AND m.held_until <= now()))`

// States returns the broadcasts with what each waits for: a person who has paused it, or the mailbox that it is sent
// from. One that is under way while its mailbox does not send is held. A cap, a gap and a window leave it sending.
func States(ctx context.Context, tx *postgres.Tx, all []Row) ([]BroadcastState, error) {
	out := make([]BroadcastState, len(all))
	var senders []id.ID
	for i := range all {
		b := &all[i].Value
		out[i].Broadcast = *b
		switch b.Status {
		case Paused:
			out[i].Wait = mailboxes.WaitFor(ByPerson, "The broadcast is paused.", "Resume it when it may go on.")
		case Preparing, Sending:
			senders = append(senders, *b.MailboxID)
		}
	}
	waits, err := mailboxes.WaitsOf(ctx, tx, senders)
	if err != nil {
		return nil, err
	}
	gone, err := goneOf(ctx, tx, senders)
	if err != nil {
		return nil, err
	}

	for i := range out {
		b := &out[i]
		if b.Status != Preparing && b.Status != Sending {
			continue
		}
		w := waits[*b.MailboxID]
		if b.Wait = w.Wait; w.Stopped {
			b.Status = Held
		}
		if gone[*b.MailboxID] {
			b.Status = Held
			b.Wait = mailboxes.WaitFor(MailboxGone, "The mailbox that the broadcast is sent from was deleted.",
				"Restore the mailbox, or cancel the broadcast.")
		}
	}

	return out, nil
}

// goneOf returns which of the mailboxes are archived.
func goneOf(ctx context.Context, tx *postgres.Tx, all []id.ID) (map[id.ID]bool, error) {
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // none is
	}
	var gone []id.ID
	err := tx.QueryRow(ctx, `SELECT coalesce(array_agg(id), '{}') FROM mailbox WHERE org_id = $1
		AND id = ANY ($2::uuid[])
		AND archived_at IS NOT NULL`, []any{tx.Org(), all}, &gone)
	if err != nil {
		return nil, fmt.Errorf("read mailboxes: %w", err)
	}
	out := make(map[id.ID]bool, len(gone))
	for _, i := range gone {
		out[i] = true
	}
	return out, nil
}
