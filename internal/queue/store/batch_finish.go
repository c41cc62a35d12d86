package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// T8, T9 and T10 for many jobs.
const (
	fenceAll = `
	CROSS JOIN LATERAL (
		SELECT job.ctid AS at FROM job
		WHERE job.org_id = m.org_id AND job.id = m.id AND job.owner = m.owner AND job.attempt = m.attempt
			AND` + hasSlot + `
		FOR UPDATE
	) AS one
)`
	doneAllSQL = `
WITH mine AS MATERIALIZED (
	SELECT one.at, m.owner
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[]) AS m (org_id, id, owner, attempt)` + fenceAll + `
DELETE FROM job USING mine WHERE job.ctid = mine.at
RETURNING mine.owner`
	failAllSQL = `
WITH mine AS MATERIALIZED (
	SELECT one.at, m.owner, m.outcome, m.error, m.later
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::bigint[])
		AS m (org_id, id, owner, attempt, outcome, error, later)` + fenceAll + `
UPDATE job SET owner = NULL, lease_until = NULL,
	attempt = CASE WHEN m.outcome = 'snoozed' THEN job.attempt ELSE job.attempt + 1 END,
	last_error = CASE WHEN m.outcome = 'snoozed' THEN job.last_error ELSE m.error END,
	state = CASE WHEN m.outcome = 'dead' THEN 'dead' ELSE job.state END,
	dedupe_key = CASE WHEN m.outcome = 'dead' THEN NULL ELSE job.dedupe_key END,
	run_at = CASE WHEN m.outcome = 'dead' THEN job.run_at ELSE now() + m.later * interval '1 microsecond' END,
	delayed_at = CASE WHEN m.outcome = 'dead' THEN job.delayed_at ELSE now() END,
	due = job.due AND m.outcome = 'dead',
	wake_at = CASE WHEN m.outcome = 'dead' THEN now() + $8::interval END
FROM mine AS m WHERE job.ctid = m.at
RETURNING m.owner`
)

func (s *Store) finishAll(ctx context.Context, load []*batchCall) error {
	byOwner := make(map[id.ID]*batchCall, len(load))
	var done, other fenced
	var outcomes, texts []string
	var later []int64
	for _, a := range load {
		byOwner[*a.claim.Fence] = a
		if a.verdict.Outcome == Done {
			done.addJob(a.claim)
			continue
		}
		other.addJob(a.claim)
		outcomes, texts, later = append(outcomes, string(a.verdict.Outcome)), append(texts, a.verdict.Error),
			append(later, a.verdict.In.Microseconds())
	}
	said := make([]id.ID, 0, len(load))
	note := func(rows pgx.Rows) error {
		owners, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		said = append(said, owners...)
		return err
	}
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(ByKeysSQL)
		if len(done.ids) > 0 {
			tx.Queue(doneAllSQL, done.orgs, done.ids, done.owners, done.attempts).Query(note)
		}
		if len(other.ids) > 0 {
			tx.Queue(failAllSQL, other.orgs, other.ids, other.owners, other.attempts, outcomes, texts, later,
				s.Lease).Query(note)
		}
		return nil
	})
	if err == nil {
		for _, owner := range said {
			byOwner[owner].ok = true
		}
	}
	return err
}
