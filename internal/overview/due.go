package overview

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// looksAtOnce is the maximum number of overviews that one call of Due looks at.
const looksAtOnce = 500

// planning makes index plans: the tables are small at first, and plans are kept.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// planningDays is planning for a statement on tables with a partition for each day, which is planned for its bound.
const planningDays = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`

// lookSQL finds the overviews whose time for a look has come, by one probe of an index while there are none, with the
// times from which their events may not be counted.
const lookSQL = `SELECT org_id, greatest(counted_at, now() - interval '30 days') - interval '1 hour'
FROM overview_state WHERE look_at <= now() ORDER BY look_at LIMIT $1`

// dueSQL returns which of the orgs $1 have events that are not counted, or deliveries under way, and whose last count
// of all days misses what has changed since; and of these, which have no open job with the dedupe key $2. Events and
// deliveries lie in partitions by day; the bounds $3, below the ids that any of the orgs looks for, and $4 leave those
// of the last days to the plan. OFFSET prevents a plan that reads all jobs.
const dueSQL = `
SELECT s.org_id, n.due,
	n.due AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = s.org_id AND j.dedupe_key = $2 OFFSET 0)
FROM unnest($1::uuid[]) AS o (org_id)
JOIN overview_state s ON s.org_id = o.org_id
CROSS JOIN LATERAL (SELECT uuid_floor(greatest(s.counted_at, now() - interval '30 days') - interval '1 hour') AS id)
	AS since
CROSS JOIN LATERAL (SELECT coalesce(s.due_at <= now(), false) OR EXISTS (
		SELECT FROM event e WHERE e.org_id = s.org_id AND e.seq > s.seq AND e.id >= since.id AND e.id >= $3
		AND e.id < $4)
	OR s.whole_at <= now() - interval '1 day' AND (s.counted_at > s.whole_at OR EXISTS (
		SELECT FROM webhook_delivery d WHERE d.org_id = s.org_id AND d.id >= since.id AND d.id >= $3
		AND d.id < $4)) AS due) AS n`

// laterSQL sets the next looks at the orgs $1, of which $2 are due. A job that counts sets it again. While an overview
// is read, the look is soon; otherwise it is after as much time as has passed since the last count or read, between a
// minute and a day. After ten minutes, orgs are looked at together, at every fifth minute. States that a count holds
// are left alone, and those that have been counted meanwhile.
const laterSQL = `
UPDATE overview_state s SET look_at = CASE
	WHEN l.due THEN now() + interval '1 minute'
	WHEN l.read THEN now() + interval '2 seconds'
	WHEN l.quiet < interval '10 minutes' THEN now() + greatest(l.quiet, interval '1 minute')
	ELSE fifth_minute(now() + l.quiet) END
FROM (
	SELECT h.org_id, o.due, h.read_at > now() - interval '10 minutes' AS read,
		now() - greatest(h.counted_at, h.read_at, now() - interval '1 day') AS quiet
	FROM unnest($1::uuid[], $2::bool[]) AS o (org_id, due)
	JOIN overview_state h ON h.org_id = o.org_id WHERE h.look_at <= now() FOR NO KEY UPDATE OF h SKIP LOCKED
) AS l
WHERE s.org_id = l.org_id`

// Due looks at the overviews whose time has come, and returns the orgs with something to count that have no open job
// with the dedupe key. It does not return them again in the next minute. It reads as the system role.
func Due(ctx context.Context, system *postgres.DB, dedupe string) (found []id.ID, err error) {
	var (
		orgs []id.ID
		due  []bool
	)

	if err = system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		if orgs, due, found, err = findDue(ctx, tx, dedupe); err != nil {
			return fmt.Errorf("find orgs to count: %w", err)
		}
		return nil
	}); err != nil || len(orgs) == 0 {
		return nil, err
	}
	if err := system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(planning)
		tx.Queue(laterSQL, orgs, due)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("set next looks at overviews: %w", err)
	}

	return found, nil
}

// findDue returns the orgs whose time has come, which of them are due, and which of these have no open job.
func findDue(ctx context.Context, tx *postgres.Tx, dedupe string) (orgs []id.ID, due []bool, found []id.ID, err error) {
	tx.Queue(planning)
	rows, err := tx.Query(ctx, lookSQL, looksAtOnce)
	if err != nil {
		return nil, nil, nil, err
	}

	var (
		all    []id.ID
		org    id.ID
		since  time.Time
		oldest = time.Now()
	)

	if _, err = pgx.ForEachRow(rows, []any{&org, &since}, func() error {
		all = append(all, org)
		if since.Before(oldest) {
			oldest = since
		}
		return nil
	}); err != nil || len(all) == 0 {
		return nil, nil, nil, err
	}

	tx.Queue(planningDays) // each query of a ReadTx has a transaction of its own
	if rows, err = tx.Query(ctx, dueSQL, all, dedupe, id.Floor(oldest),
		id.Floor(time.Now().Add(lateCommit))); err != nil {
		return nil, nil, nil, err
	}

	var is, free bool
	_, err = pgx.ForEachRow(rows, []any{&org, &is, &free}, func() error {
		orgs = append(orgs, org)
		due = append(due, is)
		if free {
			found = append(found, org)
		}
		return nil
	})

	return orgs, due, found, err
}
