package broadcasts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// BroadcastState is a broadcast with what it waits for.
type BroadcastState struct {
	Broadcast
	mailboxes.Wait
}

// ByPerson is the reason of a broadcast that a person has paused. The others are those of its mailbox.
const ByPerson = "paused_by_user"

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

	for i := range out {
		b := &out[i]
		if b.Status != Preparing && b.Status != Sending {
			continue
		}
		w := waits[*b.MailboxID]
		if b.Wait = w.Wait; w.Stopped {
			b.Status = Held
		}
	}

	return out, nil
}
