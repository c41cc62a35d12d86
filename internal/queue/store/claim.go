package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// claimed is the columns that scanClaimed scans.
const claimed = ` job.kind, job.args, job.lane, job.attempt, job.max_attempts, job.created_at, ` +
	`extract(epoch FROM clock_timestamp() - job.run_at)::float8, coalesce(job.traceparent, '')`

// may completes a claim's predicate: jobs that are paused or have an open circuit must not start. Such a row keeps its
// slot, or has lost it to OpenCircuit. The relay or the feeder returns to it afterwards.
const may = ` AND NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('lane', job.lane), ('kind',
	job.kind), ('org', job.org_id::text)))
	AND (job.line IS NULL OR NOT EXISTS (SELECT FROM job_line l WHERE l.org_id = job.org_id AND l.id = job.line
	AND l.held_until > now()))`

// T5. A row with an expired lease may be claimed again; the fence is the new owner.
const claimSQL = `
UPDATE job SET owner = $3, lease_until = now() + $4::interval
WHERE org_id = $1 AND id = $2 AND` + hasSlot + ` AND` + lapsed + may + `
RETURNING` + claimed

// T6. The row lock is the lease; it ends with the session that holds it.
const lockSQL = `
SELECT` + claimed + `
FROM job
WHERE org_id = $1 AND id = $2 AND` + hasSlot + ` AND owner IS NULL` + may + `
FOR UPDATE OF job SKIP LOCKED`

// Claim is T5: this process holds the job until the completion or until the lease expires. It returns ErrMissed if
// there is nothing to claim.
func (s *Store) Claim(ctx context.Context, org, job id.ID) (*queue.Claimed, error) {
	owner := id.New()
	c := &queue.Claimed{ID: job, Org: org, Fence: &owner}
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(ByKeySQL)
		tx.Queue(claimSQL, org, job, owner, s.Lease).QueryRow(func(row pgx.Row) error { return scanClaimed(row, c) })
		return nil
	})
	if postgres.None(err) {
		return nil, ErrMissed
	}
	return c, err
}

// Lock is T6: the job is held while tx is open. It returns ErrMissed if there is nothing to claim.
func (s *Store) Lock(ctx context.Context, tx *postgres.Tx, job id.ID) (*queue.Claimed, error) {
	c := &queue.Claimed{ID: job, Org: tx.Org()}
	tx.Queue(ByKeySQL)
	rows, err := tx.Query(ctx, lockSQL, tx.Org(), job)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return nil, ErrMissed
	}
	if err := scanClaimed(rows, c); err != nil {
		return nil, err
	}
	rows.Close()
	tx.Queue(anyPlanSQL) // for the run's own statements
	return c, rows.Err()
}

// scanClaimed scans a row of other columns and the columns of claimed.
func scanClaimed(row pgx.Row, c *queue.Claimed, other ...any) error {
	var waited float64
	if err := row.Scan(append(other, &c.Kind, &c.Raw, &c.Lane, &c.Attempt, &c.MaxAttempts, &c.CreatedAt,
		&waited, &c.Traceparent)...); err != nil {
		return err
	}
	c.Attempt, c.Waited = c.Attempt+1, time.Duration(waited*float64(time.Second))
	return nil
}

const deadSQL = `SELECT last_error, attempt, max_attempts FROM job WHERE org_id = $1 AND id = $2 AND` + isDead

// Dead reports whether the job is dead, and returns its last error and attempts. It is called after a claim that
// missed.
func (s *Store) Dead(ctx context.Context, org, job id.ID) (why string, attempts, of int, dead bool, err error) {
	err = s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		tx.Queue(ByKeySQL)
		return tx.QueryRow(ctx, deadSQL, []any{org, job}, &why, &attempts, &of)
	})
	if postgres.None(err) {
		return "", 0, 0, false, nil
	}
	return why, attempts, of, err == nil, err
}

// T7 for all runs of a process at once. It finds rows by primary key; owner has no index.
const extendSQL = `
WITH mine AS MATERIALIZED (
	SELECT one.at FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS m (org_id, id, owner)
	CROSS JOIN LATERAL (
		SELECT job.ctid AS at FROM job WHERE job.org_id = m.org_id AND job.id = m.id AND job.owner = m.owner
		FOR UPDATE
	) AS one
)
UPDATE job SET lease_until = now() + $4::interval
FROM mine WHERE job.ctid = mine.at
RETURNING job.owner`

// T7 for one run.
const extendOneSQL = `
UPDATE job SET lease_until = now() + $4::interval
WHERE org_id = $1 AND id = $2 AND owner = $3
RETURNING owner`

// Extend is T7: it renews the leases of all runs and returns the owners that still hold theirs. A run that is not among
// them has lost its job.
func (s *Store) Extend(ctx context.Context, runs []*queue.Claimed) (map[id.ID]bool, error) {
	held := make(map[id.ID]bool, len(runs))
	if err := s.extendAll(ctx, runs, held); err != nil {
		return nil, err
	}
	// extendSQL misses a row that the relay moves at the same time. Only a statement by key finds the row's new
	// version.
	for _, c := range runs {
		if held[c.Owner()] {
			continue
		}
		err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(ByKeySQL + AsyncCommitSQL)
			n, err := tx.Exec(ctx, extendOneSQL, c.Org, c.ID, c.Owner(), s.Lease)
			held[c.Owner()] = n > 0
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return held, nil
}

// extendAll renews the leases of all runs in one statement, and adds to held the owners whose rows it found.
func (s *Store) extendAll(ctx context.Context, runs []*queue.Claimed, held map[id.ID]bool) error {
	orgs, ids, owners := make([]id.ID, len(runs)), make([]id.ID, len(runs)), make([]id.ID, len(runs))
	for i, c := range runs {
		orgs[i], ids[i], owners[i] = c.Org, c.ID, c.Owner()
	}
	return s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(ByKeysSQL + AsyncCommitSQL)
		tx.Queue(extendSQL, orgs, ids, owners, s.Lease).Query(func(rows pgx.Rows) error {
			var owner id.ID
			_, err := pgx.ForEachRow(rows, []any{&owner}, func() error {
				held[owner] = true
				return nil
			})
			return err
		})
		return nil
	})
}
