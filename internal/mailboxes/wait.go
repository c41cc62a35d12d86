package mailboxes

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Wait is what a record waits for. Its members are null if it waits for nothing.
type Wait struct {
	StatusReason *string `json:"status_reason" doc:"What it waits for, for programs; null: nothing"`
	StatusDetail *string `json:"status_detail" doc:"What it waits for, in words; null: nothing"`
	StatusAction *string `json:"status_action" doc:"What to do about it, in words; null: nothing"`
}

// WaitFor returns a Wait with a reason.
func WaitFor(reason, detail, action string) Wait { return Wait{&reason, &detail, &action} }

// SenderWait is what the automated mail of a mailbox waits for.
type SenderWait struct {
	Wait
	Address string // from_email of the mailbox
	Stopped bool   // the mailbox is held, disabled or unverified
}

// MailboxGone is the reason of mail that waits since its mailbox was archived.
const MailboxGone = "mailbox_deleted"

// waitForGone returns what the mail of an archived mailbox waits for.
func waitForGone(address string) SenderWait {
	w := WaitFor(MailboxGone, "The mailbox "+address+" that sends its mail was deleted.",
		"Restore the mailbox, or delete it again with reassign_to, the id of the mailbox that takes over.")
	return SenderWait{w, address, true}
}

// WaitsOf returns what the automated mail of mailboxes waits for now. Mailboxes whose mail waits for nothing are left
// out; the mail of archived ones waits for MailboxGone. A silent server counts once automated mail waits for it, and an
// inbox that a person has to do something about does not count.
func WaitsOf(ctx context.Context, tx *postgres.Tx, all []id.ID) (map[id.ID]SenderWait, error) {
	out := map[id.ID]SenderWait{}
	if len(all) == 0 {
		return out, nil
	}
	rows, err := tx.Query(ctx, `SELECT id, from_email, status, status_reason, held_until, refusal_reply,
			mailbox_full_until(org_id, id, daily_cap), mailbox_silent(org_id, id), archived_at
		FROM mailbox WHERE org_id = $1 AND id = ANY ($2::uuid[])`, tx.Org(), all)
	if err != nil {
		return nil, fmt.Errorf("read mailboxes: %w", err)
	}

	boxes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m stored, err error) {
		return m, row.Scan(&m.ID, &m.FromEmail, &m.Status, &m.reason, &m.HeldUntil,
			&m.refusalReply, &m.full, &m.silence, &m.ArchivedAt)
	})
	if err != nil {
		return nil, fmt.Errorf("read mailboxes: %w", err)
	}

	now := time.Now()
	for i := range boxes {
		if boxes[i].ArchivedAt != nil {
			out[boxes[i].ID] = waitForGone(boxes[i].FromEmail)
			continue
		}
		if w := boxes[i].waitAt(now); w.StatusReason != nil {
			out[boxes[i].ID] = SenderWait{w, boxes[i].FromEmail, boxes[i].Status != Active && !boxes[i].heldOver(now)}
		}
	}

	return out, nil
}

// waitAt returns what the automated mail of m waits for at the given time.
func (m *stored) waitAt(now time.Time) Wait {
	if m.silence != nil && now.Sub(m.silence.Since.Time) < silentHold {
		m.silence = nil
	}
	shown := m.Shown(now)
	if shown.StatusReason == nil && shown.Status != Active {
		shown.StatusReason = &shown.Status
	}
	return Wait{shown.StatusReason, shown.StatusDetail, shown.StatusAction}
}
