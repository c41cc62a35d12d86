package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	feedGroups = 1000 // groups per round of a lane; the next round continues after them
	feedTries  = 4    // times that a round reassigns slots that groups could not fill
	ripe       = 1000 // jobs that one round marks as due
)

// feedCursor is a group's position in the index. The zero value is before all groups.
type feedCursor struct {
	org, line id.ID
	kind      string
}

// ripenSQL marks jobs as due when their time has come, so that they wait for a slot. Half of a batch are the oldest
// jobs and half the newest, so that many jobs with the same time do not delay jobs that become due later.
const ripenSQL = `
WITH oldest AS MATERIALIZED (
	SELECT org_id, id FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at <= now()
	ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED
), newest AS MATERIALIZED (
	SELECT org_id, id FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at <= now()
	ORDER BY run_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE job SET due = true
FROM (SELECT org_id, id FROM oldest UNION SELECT org_id, id FROM newest) AS ripe
WHERE job.org_id = ripe.org_id AND job.id = ripe.id`

// The LIMIT makes it one probe per lane. With EXISTS the planner chooses a join that reads all waiting jobs.
const waitingSQL = `
SELECT l.lane FROM unnest($1::text[]) AS l (lane)
CROSS JOIN LATERAL (SELECT FROM job WHERE job.lane = l.lane AND job.state = 'ready' AND job.wake_at IS NULL
AND job.due LIMIT 1) AS one`

// Waiting returns the lanes in which jobs wait for a slot. It also marks jobs as due when their time has come. It costs
// one index probe per lane, and one for the jobs that became due.
func (l *Store) Waiting(ctx context.Context) ([]Lane, error) {
	var out []Lane
	err := l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(byKeySQL)
		tx.Queue(ripenSQL, ripe/2)
		tx.Queue(waitingSQL, laneNames()).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectRows(rows, pgx.RowTo[Lane])
			return err
		})
		return nil
	})
	return out, err
}

// feedsSQL allows one feeder at a time per lane, so that its counts still hold when it assigns slots. For other feeders
// the statements that follow return nothing, because they check app.feeds.
const feedsSQL = `
SELECT set_config('app.feeds', CASE WHEN EXISTS (SELECT FROM job_pause WHERE scope = 'lane' AND name = $1) THEN 'paused'
	ELSE pg_try_advisory_xact_lock(hashtext('funnelwork.feed'), hashtext($1))::text END, true)`

const (
	heldSQL = heldOf + byLine
	heldOf  = `
SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), count(*) FROM job
WHERE lane = $1 AND state = 'ready' AND wake_at IS NOT NULL AND current_setting('app.feeds') = 'true'`
	byLine = ` GROUP BY org_id, line ORDER BY org_id, line`
)

// groupsSQL steps from group to group in job_waiting. A group is an org, a concurrency key and a kind. The LIMIT in
// headsSQL makes the look-up of each key a probe: with a plan made while there were few keys, a join would read all of
// them for each group.
const groupsSQL = `
WITH RECURSIVE walk AS (
	(SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
	WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL AND due AND current_setting('app.feeds') = 'true'
		AND (org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > ($4::uuid, $5::uuid,
		$6::text)
	ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1)
	UNION ALL
	SELECT n.org_id, n.line, n.kind, n.run_at
	FROM walk w CROSS JOIN LATERAL (
		SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
		WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL AND due
			AND (org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > (w.org_id, w.line,
			w.kind)
		ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1
	) AS n
)` + headsSQL

// headsSQL returns the groups of a walk and the limits of each group.
const headsSQL = `, heads AS MATERIALIZED (
	SELECT * FROM walk LIMIT $2
)
SELECT h.org_id, h.line, h.kind, extract(epoch FROM h.run_at)::float8,
	h.run_at <= now() AND NOT EXISTS (SELECT FROM job_pause p
	WHERE (p.scope, p.name) IN (('kind', h.kind), ('org', h.org_id::text))),
	coalesce(w.weight, 1),
	CASE WHEN h.line = '00000000-0000-0000-0000-000000000000' THEN 1000000 WHEN l.held_until > now() THEN 0
	WHEN l.probing THEN 1 ELSE coalesce(l.slots, $3) END,
	l.rate, extract(epoch FROM l.next_at)::float8, extract(epoch FROM now())::float8
FROM heads h
LEFT JOIN job_weight w ON w.org_id = h.org_id
LEFT JOIN LATERAL (SELECT * FROM job_line WHERE job_line.org_id = h.org_id AND job_line.id = h.line
LIMIT 1) AS l ON true
ORDER BY h.org_id, h.line, h.kind`

// pickSQL assigns slots: to each group, its kinds together, up to its quota, in the order in which the jobs were due.
// Rows beyond a quota are locked only for this short transaction. ORDER BY names all columns of job_waiting, because
// under row policies the planner does not treat coalesce() as a constant and would sort a whole group to find its first
// rows.
const pickSQL = `
WITH pick AS MATERIALIZED (
	SELECT p.org_id, p.id, g.quota, row_number() OVER (PARTITION BY g.org_id, g.line ORDER BY p.run_at, p.id) AS turn
	FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[]) AS g (org_id, line, kind, quota)
	CROSS JOIN LATERAL (
		SELECT job.org_id, job.id, job.run_at FROM job
		WHERE job.lane = $1 AND job.org_id = g.org_id AND coalesce(job.line,
		'00000000-0000-0000-0000-000000000000'::uuid) = g.line AND job.kind = g.kind
			AND job.state = 'ready' AND job.wake_at IS NULL AND job.due AND job.run_at <= now()
		ORDER BY job.lane, job.org_id, coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid), job.kind,
		job.run_at, job.id LIMIT g.quota
		FOR UPDATE SKIP LOCKED
	) AS p
)
UPDATE job SET wake_at = now() + $6::interval
FROM pick WHERE pick.turn <= pick.quota AND job.org_id = pick.org_id AND job.id = pick.id
RETURNING` + ref + `, coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid), pick.turn`

// tollSQL stores when each rate-limited concurrency key gets its next slot.
const tollSQL = `
UPDATE job_line SET next_at = to_timestamp(g.next_at)
FROM unnest($1::uuid[], $2::uuid[], $3::float8[]) AS g (org_id, id, next_at)
WHERE job_line.org_id = g.org_id AND job_line.id = g.id`

// standstill is the longest standstill of a feeder that a rate limiter makes up for.
const standstill = 500 * time.Millisecond

// pace is the rate limiter of a concurrency key: one slot every 1/rate seconds, from next on. It does not accumulate
// slots from times when no job waited, or from longer ago than standstill.
type pace struct {
	rate int
	next float64 // epoch seconds, like all times here
}

func newPace(rate int, next, oldest, now float64) *pace {
	return &pace{rate, max(next, oldest, now-standstill.Seconds())}
}

// room returns how many slots the key may get by now.
func (p *pace) room(now float64) int {
	if p.next > now {
		return 0
	}
	return 1 + int((now-p.next)*float64(p.rate))
}

func (p *pace) give(n int) { p.next += float64(n) / float64(p.rate) }

// Feed is T2: it assigns slots to at most limit waiting jobs of a lane that are due. Each slot goes to the org that
// holds the fewest for its weight, within that org to the concurrency key that holds the fewest, and within that key to
// the job that was due first. The caller must push the returned jobs. Feed returns nothing while another feeder feeds
// the lane or while the lane is paused.
func (l *Store) Feed(ctx context.Context, lane Lane, limit int) ([]Ref, error) {
	refs, _, err := l.feed(ctx, lane, limit, nil)
	return refs, err
}

// feed is Feed, limited to the orgs in of unless of is nil. busy reports that another feeder feeds the lane.
func (l *Store) feed(ctx context.Context, lane Lane, limit int, of []id.ID) (refs []Ref, busy bool, err error) {
	var r feedRound
	err = l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		r = feedRound{
			lane: lane, of: of, tx: tx, ledger: l, turns: map[[2]id.ID]int{}, rated: map[[2]id.ID]*pace{},
			advanceRate: map[[2]id.ID]float64{},
		}
		if err := r.snapshot(ctx); err != nil {
			return err
		}
		for range feedTries {
			if allocate(r.orgs, limit-len(r.fed)) == 0 {
				break
			}
			if err := r.pick(ctx); err != nil {
				return err
			}
		}
		r.charge()
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	if busy = r.feeds == "false"; !busy {
		l.remember(&r, len(r.fed) < limit)
	}
	return r.inTurn(), busy, nil
}

func (l *Store) cursor(lane Lane) feedCursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.from[lane]
}

func (l *Store) saveCursor(lane Lane, at feedCursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		l.from = map[Lane]feedCursor{}
	}
	l.from[lane] = at
}

// Full marks a lane as full in Redis for d. Meanwhile T1 enqueues no jobs of the lane.
func (l *Store) Full(ctx context.Context, lane Lane, d time.Duration) error {
	return l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO job_lane (lane, full_until) VALUES ($1, now() + $2::interval) ON CONFLICT (lane) DO "+
			"UPDATE SET full_until = excluded.full_until", string(lane), d)
		return nil
	})
}
