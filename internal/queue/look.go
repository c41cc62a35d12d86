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
	return l.look(ctx, wakeSQL, l.Lease, limit)
}

// Reap is T4 for at most limit rows: push what it answers.
func (l *Ledger) Reap(ctx context.Context, limit int) (Looked, error) {
	return l.look(ctx, reapSQL, l.First, limit)
}

func (l *Ledger) look(ctx context.Context, sql string, next time.Duration, limit int) (Looked, error) {
	var out Looked
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
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

// T2. The orgs that wait are found by stepping from org to org in job_waiting; each gives at most what its
// window has room for, and of those the first of every org come first. Rows beyond the limit are locked for the
// moment of this statement only.
const feedSQL = `
WITH RECURSIVE waits (org_id) AS (
	(SELECT org_id FROM job WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT j.org_id FROM job j WHERE j.lane = $1 AND j.state = 'ready' AND j.wake_at IS NULL AND j.org_id > w.org_id ORDER BY j.org_id LIMIT 1)
	FROM waits w WHERE w.org_id IS NOT NULL
), room AS MATERIALIZED (
	SELECT w.org_id, $4::int - (
		SELECT count(*) FROM (
			SELECT 1 FROM job t WHERE t.org_id = w.org_id AND t.lane = $1 AND t.state = 'ready' AND t.wake_at IS NOT NULL LIMIT $4::int
		) AS taken)::int AS free
	FROM waits w
	WHERE w.org_id IS NOT NULL AND EXISTS (
		SELECT FROM job d WHERE d.lane = $1 AND d.org_id = w.org_id AND d.state = 'ready' AND d.wake_at IS NULL AND d.run_at <= now())
), pick AS MATERIALIZED (
	SELECT p.org_id, p.id, p.run_at
	FROM room, LATERAL (
		SELECT job.org_id, job.id, job.run_at FROM job
		WHERE job.lane = $1 AND job.org_id = room.org_id AND job.state = 'ready' AND job.wake_at IS NULL AND job.run_at <= now() AND` + notPaused + `
		ORDER BY job.run_at, job.id
		LIMIT least(room.free, $2::int)
		FOR UPDATE SKIP LOCKED
	) AS p
	WHERE room.free > 0
), fair AS (
	SELECT org_id, id FROM (
		SELECT org_id, id, run_at, row_number() OVER (PARTITION BY org_id ORDER BY run_at, id) AS turn FROM pick
	) AS t
	ORDER BY turn, run_at LIMIT $2::int
)
UPDATE job SET wake_at = now() + $3::interval
FROM fair WHERE job.org_id = fair.org_id AND job.id = fair.id
RETURNING` + ref

const waitingSQL = `
SELECT lane FROM unnest($1::text[]) AS l (lane)
WHERE EXISTS (SELECT FROM job WHERE job.lane = l.lane AND job.state = 'ready' AND job.wake_at IS NULL)`

// Waiting answers the lanes in which something waits, for its time or for a slot: four index probes.
func (l *Ledger) Waiting(ctx context.Context) ([]Lane, error) {
	names := make([]string, 0, 4)
	for _, lane := range Lanes() {
		names = append(names, string(lane))
	}
	var out []Lane
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(waitingSQL, names).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectRows(rows, pgx.RowTo[Lane])
			return err
		})
		return nil
	})
	return out, err
}

// Feed is T2: it gives slots to at most limit waiting jobs of a lane whose time has come, fair over the orgs.
// Push what it answers.
func (l *Ledger) Feed(ctx context.Context, lane Lane, limit int) ([]Ref, error) {
	var out []Ref
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(feedSQL, string(lane), limit, l.First, Window).Query(func(rows pgx.Rows) error {
			var r Ref
			_, err := pgx.ForEachRow(rows, []any{&r.Org, &r.ID, &r.Kind, &r.Lane, &r.MaxAttempts, &r.Dispatch}, func() error {
				out = append(out, r)
				return nil
			})
			return err
		})
		return nil
	})
	return out, err
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
