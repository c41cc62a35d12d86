package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Limits of the hourly sweep's view of a lane's dead jobs. Archived tasks are compared with more dead rows than are
// relisted, so that a task between the two limits is not taken for a stray.
const (
	listable = 10_000
	relisted = 9_000
)

const newestDeadSQL = `
SELECT org_id, id, dispatch FROM job WHERE lane = $1 AND state = 'dead' ORDER BY id DESC LIMIT $2`

const relistSQL = `
UPDATE job SET wake_at = now()
FROM (
	SELECT one.at FROM unnest($1::uuid[], $2::uuid[]) AS d (org_id, id)
	CROSS JOIN LATERAL (
		SELECT job.ctid AS at FROM job
		WHERE job.org_id = d.org_id AND job.id = d.id AND` + isDead + ` AND NOT` + watched + `
		FOR UPDATE SKIP LOCKED
	) AS one
) AS due
WHERE job.ctid = due.at`

// Sweep is the Postgres half of T16. listed is the IDs of the tasks that asynq lists as archived, read before this
// call. Sweep returns as strays the tasks to delete: those without a dead job, and those with an outdated ID. It makes
// the newest dead jobs that asynq does not list due for Wake and returns their number.
func (s *Store) Sweep(ctx context.Context, lane queue.Lane, listed []string) (strays []string, unlisted int64,
	err error,
) {
	is := make(map[string]bool, len(listed))
	for _, task := range listed {
		is[task] = true
	}
	err = s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(InOrderSQL)
		rows, err := tx.Query(ctx, newestDeadSQL, string(lane), listable)
		if err != nil {
			return err
		}
		var r queue.Ref
		var orgs, ids []id.ID
		dead := make(map[string]bool, len(listed))
		if _, err = pgx.ForEachRow(rows, []any{&r.Org, &r.ID, &r.Dispatch}, func() error {
			if !is[r.TaskID()] && len(dead) < relisted {
				orgs, ids = append(orgs, r.Org), append(ids, r.ID)
			}
			dead[r.TaskID()] = true
			return nil
		}); err != nil {
			return err
		}
		strays = nil
		for _, task := range listed {
			if !dead[task] {
				strays = append(strays, task)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		unlisted, err = tx.Exec(ctx, relistSQL, orgs, ids)
		return err
	})
	return strays, unlisted, err
}

const taskOfDeadSQL = `SELECT dispatch FROM job WHERE org_id = $1 AND id = $2 AND` + isDead

// TaskOfDead returns the current task ID of a dead job, or "" if there is no such dead job.
func (s *Store) TaskOfDead(ctx context.Context, org, job id.ID) (string, error) {
	r := queue.Ref{Org: org, ID: job}
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(ByKeySQL)
		return tx.QueryRow(ctx, taskOfDeadSQL, []any{org, job}, &r.Dispatch)
	})
	if postgres.None(err) {
		return "", nil
	}
	return r.TaskID(), err
}
