package emails

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Reasons of emails that a broadcast stops.
const (
	BroadcastPaused    = "broadcast_paused"
	BroadcastCancelled = "broadcast_cancelled"
)

const broadcastLock = `(hashtextextended('broadcast ' || $1::text, 0))`

// LockBroadcast queues the lock that decides the order of the marks of a broadcast's emails and of a change of its
// status: marks under way are awaited, and later ones wait for the end of tx.
func LockBroadcast(tx *postgres.Tx, broadcast id.ID) {
	tx.Queue(`SELECT pg_advisory_xact_lock`+broadcastLock, broadcast.String())
}

// guardBroadcast queues the lock of a mark.
func guardBroadcast(tx *postgres.Tx, broadcast id.ID) {
	tx.Queue(`SELECT pg_advisory_xact_lock_shared`+broadcastLock, broadcast.String())
}

// broadcastRuns is the condition that nothing stops the broadcast of an email e, if it has one.
const broadcastRuns = `(e.broadcast_id IS NULL OR coalesce((SELECT b.status IN ('preparing', 'sending', 'sent')
	FROM broadcast b WHERE b.org_id = e.org_id AND b.id = e.broadcast_id), false))`

// Waiting is an email that waits for being sent.
type Waiting struct{ Email, Mailbox id.ID }

// WaitingOf returns the emails of a broadcast that wait, and queues that they are due now: what was paused is not late.
func WaitingOf(ctx context.Context, tx *postgres.Tx, broadcast id.ID) ([]Waiting, error) {
	rows, err := tx.Query(ctx, `UPDATE email SET due_at = greatest(due_at, clock_timestamp())
		WHERE org_id = $1 AND broadcast_id = $2 AND status IN ('scheduled', 'planned') RETURNING id, mailbox_id`,
		tx.Org(), broadcast)
	if err != nil {
		return nil, fmt.Errorf("read waiting emails: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Waiting])
	if err != nil {
		return nil, fmt.Errorf("read waiting emails: %w", err)
	}
	return all, nil
}

// OpenOf returns the number of emails of a broadcast that are not settled, at most limit.
func OpenOf(ctx context.Context, tx *postgres.Tx, broadcast id.ID, limit int) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM email WHERE org_id = $1 AND broadcast_id = $2
		AND status IN ('scheduled', 'planned', 'transmitting') LIMIT $3) AS open`, []any{tx.Org(), broadcast, limit},
		&n)
	if err != nil {
		return 0, fmt.Errorf("count open emails: %w", err)
	}
	return n, nil
}

// CancelBroadcast queues the end of the emails of a broadcast that are not being transmitted.
func CancelBroadcast(tx *postgres.Tx, broadcast id.ID) {
	tx.Queue(`UPDATE email SET status = 'cancelled', status_reason = $3, computed = computed + 1
		WHERE org_id = $1 AND broadcast_id = $2 AND status IN ('scheduled', 'planned')`, tx.Org(), broadcast,
		BroadcastCancelled)
}
