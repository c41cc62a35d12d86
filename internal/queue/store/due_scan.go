package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// backSQL returns due rows of keys with an open circuit to waiting. Such a job got its slot while the circuit was being
// opened, or its worker died.
const backSQL = `
UPDATE job SET wake_at = NULL, due = true
FROM (
	SELECT job.ctid AS at FROM job JOIN job_line l ON l.org_id = job.org_id AND l.id = job.line
	AND l.held_until > now()
	WHERE job.state = 'ready' AND job.wake_at BETWEEN $2 AND now() AND job.owner IS NULL
	LIMIT $1 FOR UPDATE OF job SKIP LOCKED
) AS due
WHERE job.ctid = due.at`

// wakeSQL is T3: rows that are due for a check and that no run owns, ready and dead alike.
const wakeSQL = `
WITH due AS MATERIALIZED (
	SELECT ctid AS at, wake_at FROM job
	WHERE wake_at BETWEEN $3 AND now() AND owner IS NULL AND` + NotPausedSQL + `
	ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET wake_at = now() + $1::interval
FROM due WHERE job.ctid = due.at
RETURNING` + RefColumns + `, extract(epoch FROM now() - due.wake_at)::float8`

// keepAhead is how long before wake_at keepSQL begins.
const keepAhead = `interval '1500 milliseconds'`

// keepSQL moves wake_at of the runs that go on to the end of their lease, where a run that has vanished is found. It
// begins two scans before wake_at: the relay of a version without lease_until would take the run for lost.
const keepSQL = `
WITH due AS MATERIALIZED (
	SELECT ctid AS at FROM job
	WHERE wake_at BETWEEN $2 AND now() + ` + keepAhead + ` AND owner IS NOT NULL
		AND lease_until > greatest(wake_at, now())
	ORDER BY wake_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE job SET wake_at = job.lease_until
FROM due WHERE job.ctid = due.at`

// reapSQL is T4: rows with an expired lease. Pauses do not delay it, because the run is lost in any case.
const reapSQL = `
WITH due AS MATERIALIZED (
	SELECT ctid AS at, wake_at FROM job
	WHERE wake_at BETWEEN $3 AND now() AND owner IS NOT NULL AND (lease_until IS NULL OR lease_until <= now())
	ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET owner = NULL, lease_until = NULL, wake_at = now() + $1::interval
FROM due WHERE job.ctid = due.at
RETURNING` + RefColumns + `, extract(epoch FROM now() - due.wake_at)::float8`

// T15: all jobs of a lane that should be in Redis, and the newest dead jobs, which asynq should list.
const (
	epochSQL = `
UPDATE job SET wake_at = now()
FROM (
	SELECT ctid AS at FROM job WHERE lane = $1 AND owner IS NULL AND wake_at > now() FOR UPDATE SKIP LOCKED
) AS due
WHERE job.ctid = due.at`
	epochDeadSQL = `
UPDATE job SET wake_at = now()
FROM (
	SELECT ctid AS at FROM job WHERE lane = $1 AND state = 'dead' ORDER BY id DESC LIMIT 9000 FOR UPDATE SKIP LOCKED
) AS due
WHERE job.ctid = due.at`
)

// DueScan is the result of a scan for due rows.
type DueScan struct {
	Refs []queue.Ref
	Lag  time.Duration // how long the most overdue row was due
}

// Wake is T3 for at most limit rows whose wake_at is not before from. The caller must push the returned jobs.
func (s *Store) Wake(ctx context.Context, limit int, from time.Time) (DueScan, error) {
	return s.scanDue(ctx, wakeSQL, s.Lease, limit, from, backSQL)
}

// Reap is T4 for at most limit rows whose wake_at is not before from. The caller must push the returned jobs.
func (s *Store) Reap(ctx context.Context, limit int, from time.Time) (DueScan, error) {
	return s.scanDue(ctx, reapSQL, s.First, limit, from, keepSQL)
}

func (s *Store) scanDue(ctx context.Context, sql string, next time.Duration, limit int, from time.Time,
	before string,
) (DueScan, error) {
	var out DueScan
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(InOrderSQL + AsyncCommitSQL)
		tx.Queue(before, limit, from)
		tx.Queue(sql, next, limit, from).Query(func(rows pgx.Rows) error {
			var r queue.Ref
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
func (s *Store) Resync(ctx context.Context, lane queue.Lane) error {
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(InOrderSQL)
		tx.Queue(epochSQL, string(lane))
		tx.Queue(epochDeadSQL, string(lane))
		return nil
	})
}
