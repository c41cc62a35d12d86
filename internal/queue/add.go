package queue

import (
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// addSQL is T1 of the protocol. job_wake decides between a push now and the feeder, and whether the next ones may
// follow unasked.
const addSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, dedupe_key, line, due, wake_at)
VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, now()), $8, $9, coalesce($7, now()) <= now(), job_wake($1, $5, $3, $9, coalesce($7, now())))
ON CONFLICT (org_id, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
RETURNING id, wake_at IS NOT NULL, coalesce(wake_at > now() + interval '3 seconds', false)`

// addKnownSQL is T1 of a due job without line or key that has a slot.
const addKnownSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due, wake_at)
VALUES ($1, $2, $3, $4, $5, $6, true, now() + interval '3 seconds')`

// Ref says enough about a job to push it.
type Ref struct {
	ID          id.ID
	Org         id.ID
	Kind        string
	Lane        Lane
	MaxAttempts int
	Dispatch    int
}

// NoteAdded is for statements that insert job rows themselves, INSERT ... SELECT with job_wake for wake_at, due
// where run_at has come, and RETURNING id, wake_at IS NOT NULL: it reads their answer as a callback of tx.Queue(...).Query and notes the
// jobs that have a slot, so that they are pushed after the commit. All rows are of tx's org and of one kind.
func NoteAdded(tx *postgres.Tx, kind string, lane Lane, maxAttempts int) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			ref := Ref{Org: tx.Org(), Kind: kind, Lane: lane, MaxAttempts: maxAttempts}
			var slot bool
			if err := rows.Scan(&ref.ID, &slot); err != nil {
				return err
			}
			if slot {
				tx.Note(ref)
			}
		}
		return rows.Err()
	}
}
