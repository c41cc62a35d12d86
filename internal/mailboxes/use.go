package mailboxes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const useLock = `(hashtextextended('mailbox use ' || $1::text, 0))`

// LockUse queues the lock of a transaction that writes something for a mailbox to send: an email, an enrolment or the
// schedule of a broadcast. Call it before the read that finds the mailbox live. A transaction that holds LockRemoval is
// awaited; a later one waits for the end of tx, and so finds what tx has written.
func LockUse(tx *postgres.Tx, all ...id.ID) {
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, id.Compare)
	for _, mailbox := range slices.Compact(ordered) {
		tx.Queue(`SELECT pg_advisory_xact_lock_shared`+useLock, mailbox.String())
	}
}

// LockRemoval queues the lock of a transaction that archives a mailbox: those that hold LockUse are awaited, and later
// ones wait for the end of tx.
func LockRemoval(tx *postgres.Tx, mailbox id.ID) {
	tx.Queue(`SELECT pg_advisory_xact_lock`+useLock, mailbox.String())
}

// QueueLive queues LockUse and reading whether the mailbox is live. Once the statements of tx were sent, the function
// that it returns reports that.
func QueueLive(tx *postgres.Tx, mailbox id.ID) func() bool {
	LockUse(tx, mailbox)
	live := false
	tx.Queue(`SELECT FROM mailbox WHERE org_id = $1 AND id = $2 AND archived_at IS NULL`, tx.Org(), mailbox).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan()
			live = err == nil
			if postgres.None(err) {
				return nil
			}
			return err
		})
	return func() bool { return live }
}

// Successor returns the mailbox that is to take over what another one has to send. It is locked against being archived
// until tx ends. The error is a mailbox_not_active fault unless it is another mailbox that is active.
func (s *Service) Successor(ctx context.Context, tx *postgres.Tx, of, to id.ID) (*Sending, error) {
	if of == to {
		return nil, fault.New(fault.MailboxNotActive, "A mailbox cannot take over its own mails. Name another one.")
	}
	LockUse(tx, to)
	m, err := s.ForSending(ctx, tx, to)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.MailboxNotActive, "There is no mailbox that reassign_to names.")
	}
	if err != nil {
		return nil, err
	}
	if !m.MaySend(time.Now()) {
		f := fault.New(fault.MailboxNotActive, "The mailbox that reassign_to names does not send in its present state.")
		f.More = map[string]any{"status": m.Status}
		return nil, f
	}
	return m, nil
}

// SetSuccessor queues that another mailbox took over what an archived one had to send.
func SetSuccessor(tx *postgres.Tx, mailbox, to id.ID) {
	tx.Queue(`UPDATE mailbox SET reassigned_to = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), mailbox, to)
}

// SuccessorOfEmail returns the mailbox that took over from the archived one of an email; nil: none did.
func (s *Service) SuccessorOfEmail(ctx context.Context, tx *postgres.Tx, email id.ID) (*Sending, error) {
	var to *id.ID
	err := tx.QueryRow(ctx, `SELECT m.reassigned_to FROM email e JOIN mailbox m ON m.org_id = e.org_id
		AND m.id = e.mailbox_id AND m.archived_at IS NOT NULL WHERE e.org_id = $1 AND e.id = $2`,
		[]any{tx.Org(), email}, &to)
	if postgres.None(err) || err == nil && to == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read successor of mailbox: %w", err)
	}

	LockUse(tx, *to)
	m, err := s.ForSending(ctx, tx, *to)
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // it was archived, too
	}
	return m, err
}
