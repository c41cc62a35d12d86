package queue

import (
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// addSQL is T1 of the protocol. job_wake decides between a push now and the feeder.
const addSQL = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, run_at, dedupe_key, wake_at)
VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, now()), $8, job_wake($1, $5, coalesce($7, now())))
ON CONFLICT (org_id, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
RETURNING id, wake_at IS NOT NULL`

// Ref says enough about a job to push it.
type Ref struct {
	ID          id.ID
	Org         id.ID
	Kind        string
	Lane        Lane
	MaxAttempts int
	Dispatch    int
}

// noteAdded reads (id, has a slot) rows and notes the refs that are to be pushed after the commit.
func noteAdded(tx *postgres.Tx, refs map[id.ID]Ref) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var (
				job  id.ID
				slot bool
			)
			if err := rows.Scan(&job, &slot); err != nil {
				return err
			}
			if slot {
				tx.Note(refs[job])
			}
		}
		return rows.Err()
	}
}
