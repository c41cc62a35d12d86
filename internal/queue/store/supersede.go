package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

const listedSQL = `UPDATE job SET wake_at = NULL WHERE org_id = $1 AND id = $2 AND` + isDead

// MarkListed clears wake_at of a dead row that asynq lists under Archived. It returns false if the job is not dead.
func (s *Store) MarkListed(ctx context.Context, r queue.Ref) (bool, error) {
	var n int64
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		tx.Queue(ByKeySQL)
		n, err = tx.Exec(ctx, listedSQL, r.Org, r.ID)
		return err
	})
	return n > 0, err
}

// leaveSQL raises dispatch, so that the job gets a task with a new ID. It leaves alone a row that is being run, by
// owner or by lock, because that row's task does deliver. The 20th loss makes the row dead, and the new task lists it
// under Archived.
const leaveSQL = `
UPDATE job SET dispatch = job.dispatch + 1,
	losses = job.losses + due.lost,
	state = CASE WHEN due.fatal THEN 'dead' ELSE job.state END,
	dedupe_key = CASE WHEN due.fatal THEN NULL ELSE job.dedupe_key END,
	last_error = CASE WHEN due.fatal THEN $6 ELSE job.last_error END,
	wake_at = CASE WHEN due.fatal THEN now() + $7::interval ELSE job.wake_at END
FROM (
	SELECT ctid AS at, CASE WHEN state = 'ready' THEN $4::int ELSE 0 END AS lost,
		state = 'ready' AND $4::int > 0 AND losses + $4::int >= $5 AS fatal
	FROM job
	WHERE org_id = $1 AND id = $2 AND dispatch = $3 AND owner IS NULL AND` + watched + `
	FOR UPDATE SKIP LOCKED
) AS due
WHERE job.ctid = due.at
RETURNING job.dispatch, due.fatal, job.kind, job.args`

// Superseded is the result of Supersede.
type Superseded struct {
	Ref  queue.Ref // the job with its new task ID
	Free bool      // the job had no run, so that it got a new task ID
	Died bool      // the job lost its worker too often and is dead now
}

// Supersede gives the job a new task ID in place of a task that will not deliver. lost is the number of runs that
// vanished with that task. The caller must enqueue the new task if the job was free.
func (s *Store) Supersede(ctx context.Context, r queue.Ref, lost int) (Superseded, error) {
	out := Superseded{Ref: r}
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		job := Changed{Org: r.Org}
		tx.Queue(ByKeySQL)
		tx.Queue(leaveSQL, r.Org, r.ID, r.Dispatch, lost, MaxLosses,
			fmt.Sprintf("lost its worker %d times", MaxLosses), s.Lease).
			Query(func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&out.Ref.Dispatch, &out.Died, &job.Kind, &job.Args}, func() error {
					out.Free = true
					return nil
				})
				return err
			})
		if err := tx.Flush(ctx); err != nil || !out.Died {
			return err
		}
		return s.Hooks.RunStopped(ctx, tx, []Changed{job})
	})
	return out, err
}
