package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const ref = ` job.org_id, job.id, job.kind, job.lane, job.max_attempts, job.dispatch`

const notPaused = `
	NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('lane', job.lane), ('kind', job.kind),
	('org', job.org_id::text)))`

// backSQL returns due rows of keys with an open circuit to waiting. Such a job got its slot while the circuit was being
// opened, or its worker died.
const backSQL = `
UPDATE job SET wake_at = NULL, due = true
FROM (
	SELECT job.org_id, job.id FROM job JOIN job_line l ON l.org_id = job.org_id AND l.id = job.line
	AND l.held_until > now()
	WHERE job.state = 'ready' AND job.wake_at <= now() AND job.owner IS NULL
	LIMIT $1 FOR UPDATE OF job SKIP LOCKED
) AS due
WHERE job.org_id = due.org_id AND job.id = due.id`

// wakeSQL is T3: rows that are due for a check and that no run owns, ready and dead alike.
const wakeSQL = `
WITH due AS MATERIALIZED (
	SELECT org_id, id, wake_at FROM job
	WHERE wake_at <= now() AND owner IS NULL AND` + notPaused + `
	ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET wake_at = now() + $1::interval
FROM due WHERE job.org_id = due.org_id AND job.id = due.id
RETURNING` + ref + `, extract(epoch FROM now() - due.wake_at)::float8`

// reapSQL is T4: rows with an expired lease. Pauses do not delay it, because the run is lost in any case.
const reapSQL = `
WITH due AS MATERIALIZED (
	SELECT org_id, id, wake_at FROM job
	WHERE wake_at <= now() AND owner IS NOT NULL
	ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET owner = NULL, wake_at = now() + $1::interval
FROM due WHERE job.org_id = due.org_id AND job.id = due.id
RETURNING` + ref + `, extract(epoch FROM now() - due.wake_at)::float8`

// T15: all jobs of a lane that should be in Redis, and the newest dead jobs, which asynq should list.
const (
	epochSQL = `
UPDATE job SET wake_at = now()
FROM (
	SELECT org_id, id FROM job WHERE lane = $1 AND owner IS NULL AND wake_at > now() FOR UPDATE SKIP LOCKED
) AS due
WHERE job.org_id = due.org_id AND job.id = due.id`
	epochDeadSQL = `
UPDATE job SET wake_at = now()
FROM (
	SELECT org_id, id FROM job WHERE lane = $1 AND state = 'dead' ORDER BY id DESC LIMIT 9000 FOR UPDATE SKIP LOCKED
) AS due
WHERE job.org_id = due.org_id AND job.id = due.id`
)

// DueScan is the result of a scan for due rows.
type DueScan struct {
	Refs []Ref
	Lag  time.Duration // how long the most overdue row was due
}

// Wake is T3 for at most limit rows. The caller must push the returned jobs.
func (l *Store) Wake(ctx context.Context, limit int) (DueScan, error) {
	return l.scanDue(ctx, wakeSQL, l.Lease, limit, backSQL)
}

// Reap is T4 for at most limit rows. The caller must push the returned jobs.
func (l *Store) Reap(ctx context.Context, limit int) (DueScan, error) {
	return l.scanDue(ctx, reapSQL, l.First, limit)
}

func (l *Store) scanDue(ctx context.Context, sql string, next time.Duration, limit int, before ...string) (DueScan,
	error,
) {
	var out DueScan
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(asyncCommitSQL)
		for _, b := range before {
			tx.Queue(b, limit)
		}
		tx.Queue(sql, next, limit).Query(func(rows pgx.Rows) error {
			var r Ref
			var late float64
			_, err := pgx.ForEachRow(rows, []any{&r.Org, &r.ID, &r.Kind, &r.Lane, &r.MaxAttempts, &r.Dispatch, &late},
				func() error {
					out.Refs = append(out.Refs, r)
					out.Lag = max(out.Lag, time.Duration(late*float64(time.Second)))
					return nil
				})
			return err
		})
		return nil
	})
	return out, err
}

// Resync is T15 for one lane. Redis may have lost any of the lane's tasks, so it makes all of them due for Wake.
func (l *Store) Resync(ctx context.Context, lane Lane) error {
	return l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(epochSQL, string(lane))
		tx.Queue(epochDeadSQL, string(lane))
		return nil
	})
}

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
func (l *Store) Sweep(ctx context.Context, lane Lane, listed []string) (strays []string, unlisted int64, err error) {
	is := make(map[string]bool, len(listed))
	for _, task := range listed {
		is[task] = true
	}
	err = l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, deadSQL, string(lane), listable)
		if err != nil {
			return err
		}
		var r Ref
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
	r := Ref{Org: org, ID: job}
	err := l.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, "SELECT dispatch FROM job WHERE org_id = $1 AND id = $2 AND state = 'dead'",
			[]any{org, job}, &r.Dispatch)
	})
	if postgres.None(err) {
		return "", nil
	}
	return r.TaskID(), err
}
