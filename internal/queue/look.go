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
	NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('lane', job.lane), ('kind', job.kind), ('org', job.org_id::text)))`

// A row of a held line that is due for a look came to its slot beside HoldLine, or lost its worker: it waits like
// the others of its line.
const backSQL = `
UPDATE job SET wake_at = NULL, due = true
FROM (
	SELECT job.org_id, job.id FROM job JOIN job_line l ON l.org_id = job.org_id AND l.id = job.line AND l.held_until > now()
	WHERE job.state = 'ready' AND job.wake_at <= now() AND job.owner IS NULL
	LIMIT $1 FOR UPDATE OF job SKIP LOCKED
) AS due
WHERE job.org_id = due.org_id AND job.id = due.id`

// T3: rows that nobody runs and that are due for a look, ready and dead alike.
const wakeSQL = `
WITH due AS MATERIALIZED (
	SELECT org_id, id, wake_at FROM job
	WHERE wake_at <= now() AND owner IS NULL AND` + notPaused + `
	ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET wake_at = now() + $1::interval
FROM due WHERE job.org_id = due.org_id AND job.id = due.id
RETURNING` + ref + `, extract(epoch FROM now() - due.wake_at)::float8`

// T4: rows whose run let its lease lapse. Pauses do not hold it up: a lost run is lost.
const reapSQL = `
WITH due AS MATERIALIZED (
	SELECT org_id, id, wake_at FROM job
	WHERE wake_at <= now() AND owner IS NOT NULL
	ORDER BY wake_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE job SET owner = NULL, wake_at = now() + $1::interval
FROM due WHERE job.org_id = due.org_id AND job.id = due.id
RETURNING` + ref + `, extract(epoch FROM now() - due.wake_at)::float8`

// T15: everything of a lane that should be in Redis, and the newest dead, which should be listed there.
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

// Looked is what a scan for due rows found.
type Looked struct {
	Refs []Ref
	Lag  time.Duration // how long the latest one was overdue
}

// Wake is T3 for at most limit rows: push what it answers.
func (l *Ledger) Wake(ctx context.Context, limit int) (Looked, error) {
	return l.look(ctx, wakeSQL, l.Lease, limit, backSQL)
}

// Reap is T4 for at most limit rows: push what it answers.
func (l *Ledger) Reap(ctx context.Context, limit int) (Looked, error) {
	return l.look(ctx, reapSQL, l.First, limit)
}

func (l *Ledger) look(ctx context.Context, sql string, next time.Duration, limit int, before ...string) (Looked, error) {
	var out Looked
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		for _, b := range before {
			tx.Queue(b, limit)
		}
		tx.Queue(sql, next, limit).Query(func(rows pgx.Rows) error {
			var r Ref
			var late float64
			_, err := pgx.ForEachRow(rows, []any{&r.Org, &r.ID, &r.Kind, &r.Lane, &r.MaxAttempts, &r.Dispatch, &late}, func() error {
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

// Epoch is T15 for one lane: Redis may have lost anything of it, so Wake looks at all of it next.
func (l *Ledger) Epoch(ctx context.Context, lane Lane) error {
	return l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(epochSQL, string(lane))
		tx.Queue(epochDeadSQL, string(lane))
		return nil
	})
}

// Backlog is what is open in one lane.
type Backlog struct {
	Lane   Lane
	Open   int           // ready jobs: waiting, pushed and running
	Dead   int           // jobs kept after their last failure
	Oldest time.Duration // how long the ready job that was due first is overdue
}

const backlogSQL = `
SELECT lane, count(*) FILTER (WHERE state = 'ready'), count(*) FILTER (WHERE state = 'dead'),
	coalesce(greatest(extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 'ready')), 0), 0)::float8
FROM job GROUP BY lane`

// Backlogs counts every lane that has jobs, by a walk over the whole table: ask seldom.
func (l *Ledger) Backlogs(ctx context.Context) ([]Backlog, error) {
	var out []Backlog
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(backlogSQL).Query(func(rows pgx.Rows) error {
			var b Backlog
			var age float64
			_, err := pgx.ForEachRow(rows, []any{&b.Lane, &b.Open, &b.Dead, &age}, func() error {
				b.Oldest = time.Duration(age * float64(time.Second))
				out = append(out, b)
				return nil
			})
			return err
		})
		return nil
	})
	return out, err
}
