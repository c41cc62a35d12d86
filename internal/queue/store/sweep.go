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

const deadSQL = `SELECT org_id, id, dispatch FROM job WHERE lane = $1 AND state = 'dead' ORDER BY id DESC LIMIT $2`

const relistSQL = `
UPDATE job SET wake_at = now()
FROM (
	SELECT job.org_id, job.id FROM job JOIN unnest($1::uuid[], $2::uuid[]) AS d (org_id, id) ON d.org_id =
	job.org_id AND d.id = job.id
	WHERE job.state = 'dead' AND job.wake_at IS NULL FOR UPDATE OF job SKIP LOCKED
) AS due
WHERE job.org_id = due.org_id AND job.id = due.id`

// Sweep is the Postgres half of T16. listed is the IDs of the tasks that asynq lists as archived, read before this
// call. Sweep returns as strays the tasks to delete: those without a dead job, and those with an outdated ID. It makes
// the newest dead jobs that asynq does not list due for Wake and returns their number.
func (l *Store) Sweep(ctx context.Context, lane queue.Lane, listed []string) (strays []string, unlisted int64,
	err error,
) {
	is := make(map[string]bool, len(listed))
	for _, task := range listed {
		is[task] = true
	}
	err = l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, deadSQL, string(lane), listable)
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

// TaskOfDead returns the current task ID of a dead job, or "" if there is no such dead job.
func (l *Store) TaskOfDead(ctx context.Context, org, job id.ID) (string, error) {
	r := queue.Ref{Org: org, ID: job}
	err := l.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT dispatch FROM job WHERE org_id = $1 AND id = $2 AND state = 'dead'",
			[]any{org, job}, &r.Dispatch)
	})
	if postgres.None(err) {
		return "", nil
	}
	return r.TaskID(), err
}
