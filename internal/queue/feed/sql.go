package feed

import "github.com/funnelwork/funnelwork/internal/queue/store"

// ripenSQL marks jobs as due when their time has come, so that they wait for a slot. Half of a batch are the oldest
// jobs and half the newest, so that many jobs with the same time do not delay jobs that become due later.
const ripenSQL = `
WITH oldest AS MATERIALIZED (
	SELECT ctid AS at FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at <= now()
	ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED
), newest AS MATERIALIZED (
	SELECT ctid AS at FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at <= now()
	ORDER BY run_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE job SET due = true
FROM (SELECT at FROM oldest UNION SELECT at FROM newest) AS ripe
WHERE job.ctid = ripe.at`

// waitingSQL returns the lanes with waiting jobs and, without a lane, how long until the next delayed job is due. The
// LIMIT makes it one probe per lane. With EXISTS the planner chooses a join that reads all waiting jobs.
const waitingSQL = `
SELECT l.lane, 0 FROM unnest($1::text[]) AS l (lane)
CROSS JOIN LATERAL (SELECT FROM job WHERE job.lane = l.lane AND job.state = 'ready' AND job.wake_at IS NULL
AND job.due LIMIT 1) AS one
UNION ALL
SELECT '', next.later FROM (SELECT extract(epoch FROM run_at - now())::float8 AS later FROM job
WHERE state = 'ready' AND wake_at IS NULL AND NOT due ORDER BY run_at LIMIT 1) AS next`

// feedsSQL allows one feeder at a time per lane, so that its counts still hold when it assigns slots. For other feeders
// the statements that follow return nothing, because they check app.feeds.
const feedsSQL = `
SELECT set_config('app.feeds', CASE WHEN EXISTS (SELECT FROM job_pause WHERE scope = 'lane' AND name = $1) THEN 'paused'
	ELSE pg_try_advisory_xact_lock(hashtext('funnelwork.feed'), hashtext($1))::text END, true)`

// heldSQL counts the slots that are held, from the floor on: see store.PublishFloor. The order of the inner query makes
// the index of wake_at the one that fits.
const heldSQL = `
SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), count(*) FROM (
	SELECT org_id, line FROM job
	WHERE lane = $1 AND state = 'ready' AND current_setting('app.feeds') = 'true'
		AND wake_at >= coalesce((SELECT max(at) FROM job_floor), '-infinity')
	ORDER BY wake_at
) AS held GROUP BY org_id, line`

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

// headsSQL returns the groups of a walk and the limits of each group. The time of a job that is due has come, also if
// its run_at lies ahead since the clock was set back. No interval between two slots of a key is longer than a minute,
// so a next_at beyond it is of a clock ahead, too.
const headsSQL = `, heads AS MATERIALIZED (
	SELECT * FROM walk LIMIT $2
)
SELECT h.org_id, h.line, h.kind, extract(epoch FROM h.run_at)::float8,
	NOT EXISTS (SELECT FROM job_pause p
	WHERE (p.scope, p.name) IN (('kind', h.kind), ('org', h.org_id::text))),
	coalesce(w.weight, 1),
	CASE WHEN h.line = '00000000-0000-0000-0000-000000000000' THEN 1000000 WHEN l.held_until > now() THEN 0
	WHEN l.probing THEN 1 ELSE coalesce(l.slots, $3) END,
	l.rate, extract(epoch FROM CASE WHEN l.next_at < now() + interval '1 minute' THEN l.next_at ELSE now() END)::float8,
	extract(epoch FROM now())::float8
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
	SELECT p.at, g.quota, row_number() OVER (PARTITION BY g.org_id, g.line ORDER BY p.run_at, p.id) AS turn
	FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[]) AS g (org_id, line, kind, quota)
	CROSS JOIN LATERAL (
		SELECT job.ctid AS at, job.id, job.run_at FROM job
		WHERE job.lane = $1 AND job.org_id = g.org_id AND coalesce(job.line,
		'00000000-0000-0000-0000-000000000000'::uuid) = g.line AND job.kind = g.kind
			AND job.state = 'ready' AND job.wake_at IS NULL AND job.due
		ORDER BY job.lane, job.org_id, coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid), job.kind,
		job.run_at, job.id LIMIT g.quota
		FOR UPDATE SKIP LOCKED
	) AS p
)
UPDATE job SET wake_at = now() + $6::interval
FROM pick WHERE pick.turn <= pick.quota AND job.ctid = pick.at
RETURNING` + store.RefColumns + `, coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid), pick.turn`

// tollSQL stores when each rate-limited concurrency key gets its next slot.
const tollSQL = `
UPDATE job_line SET next_at = to_timestamp(g.next_at)
FROM unnest($1::uuid[], $2::uuid[], $3::float8[]) AS g (org_id, id, next_at)
WHERE job_line.org_id = g.org_id AND job_line.id = g.id`
