package queue

import (
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// addSQL is T1 of the protocol. job_wake decides whether the job is enqueued now or left to the feeder, and whether the
// next jobs may skip the check.
const addSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, dedupe_key, line, delayed_at, due, wake_at)
VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, now() + $10::interval, now()), $8, $9,
	CASE WHEN $10::interval IS NOT NULL THEN now() END, coalesce($7, now() + $10::interval, now()) <= now(),
	job_wake($1, $5, $3, $9, coalesce($7, now() + $10::interval, now())))
ON CONFLICT (org_id, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
RETURNING id, wake_at IS NOT NULL, coalesce(wake_at > now() + interval '3 seconds', false)`

// addKnownSQL is T1 for a due job without a concurrency key or dedupe key for which slotCache already has a slot.
const addKnownSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due, wake_at)
VALUES ($1, $2, $3, $4, $5, $6, true, now() + interval '3 seconds')`

// Ref identifies a job and has the data to enqueue it.
type Ref struct {
	ID          id.ID
	Org         id.ID
	Kind        string
	Lane        Lane
	MaxAttempts int
	Dispatch    int
}

// TaskID returns the job's current task ID in asynq, "id:dispatch".
func (r Ref) TaskID() string { return r.ID.String() + ":" + strconv.Itoa(r.Dispatch) }

// NoteAdded returns a callback for tx.Queue(...).Query of a statement that inserts job rows itself. The statement must
// be an INSERT ... SELECT that uses job_wake for wake_at, sets due where run_at has passed, and ends with RETURNING id,
// wake_at IS NOT NULL. The callback registers the jobs that have a slot, so that they are enqueued after the commit.
// All rows must be of tx's org and of one kind.
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
				tx.AfterCommit(ref)
			}
		}
		return rows.Err()
	}
}
