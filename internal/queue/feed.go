package queue

import (
	"context"
	"maps"
	"slices"
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

// feedRound is one round of a lane's feeder.
type feedRound struct {
	lane        Lane
	of          []id.ID    // the orgs it is limited to; nil for all
	feeds       string     // "true", "false" if another feeder feeds the lane, or "paused"
	from        feedCursor // where the walk started
	to          feedCursor // where the walk stopped; zero if it saw all groups
	tx          *postgres.Tx
	ledger      *Store
	orgs        []*tenant
	fed         []given
	turns       map[[2]id.ID]int     // slots assigned by group
	rated       map[[2]id.ID]*pace   // rate-limited keys
	advanceRate map[[2]id.ID]float64 // time of the next slot of keys that got slots
}

type given struct {
	Ref
	line id.ID
	turn int // position within its group
}

// snapshot reads the waiting groups and the slots that they hold.
func (r *feedRound) snapshot(ctx context.Context) error {
	held := map[[2]id.ID]int{}
	r.tx.Queue(asyncCommitSQL)
	r.tx.Queue(feedsSQL, string(r.lane)).QueryRow(func(row pgx.Row) error {
		return row.Scan(&r.feeds)
	})
	whose, args := heldSQL, []any{string(r.lane)}
	if r.of != nil {
		whose, args = heldOfSQL, append(args, r.of)
	}
	r.tx.Queue(whose, args...).Query(func(rows pgx.Rows) error {
		var org, line id.ID
		var n int
		_, err := pgx.ForEachRow(rows, []any{&org, &line, &n}, func() error {
			held[[2]id.ID{org, line}] = n
			return nil
		})
		return err
	})
	r.from = r.ledger.cursor(r.lane)
	groups, args := groupsSQL, []any{string(r.lane), feedGroups, Slots, r.from.org, r.from.line, r.from.kind}
	if r.of != nil {
		groups, args = groupsOfSQL, append(args[:3], r.of)
	}
	rows, err := r.tx.Query(ctx, groups, args...)
	if err != nil {
		return err
	}
	var (
		at       feedCursor
		oldest   float64
		may      bool
		weight   int
		most     int
		rate     *int
		next     *float64
		now      float64
		n        int
		ofOrg    *tenant
		ofLine   *group
		lastLine [2]id.ID
	)
	_, err = pgx.ForEachRow(rows,
		[]any{&at.org, &at.line, &at.kind, &oldest, &may, &weight, &most, &rate, &next, &now}, func() error {
			n++
			if !may {
				return nil
			}
			key := [2]id.ID{at.org, at.line}
			if ofOrg == nil || ofOrg.org != at.org {
				ofOrg = &tenant{org: at.org, weight: weight, oldest: oldest}
				r.orgs, ofLine = append(r.orgs, ofOrg), nil
			}
			if ofLine == nil || lastLine != key {
				ofLine = &group{org: at.org, line: at.line, oldest: oldest, held: held[key], most: most}
				if rate != nil {
					r.rated[key] = newPace(*rate, *next, oldest, now)
					ofLine.most = min(most, ofLine.held+r.rated[key].room(now))
				}
				ofOrg.groups, lastLine = append(ofOrg.groups, ofLine), key
			}
			ofLine.kinds = append(ofLine.kinds, at.kind)
			ofLine.oldest, ofOrg.oldest = min(ofLine.oldest, oldest), min(ofOrg.oldest, oldest)
			return nil
		})
	if err != nil {
		return err
	}
	r.count(held)
	if n == feedGroups {
		r.to = at
	}
	if r.of == nil {
		r.ledger.saveCursor(r.lane, r.to)
	}
	return nil
}

// count sums the held slots by org.
func (r *feedRound) count(held map[[2]id.ID]int) {
	all, lines := map[id.ID]int{}, map[id.ID]int{}
	for key, n := range held {
		all[key[0]] += n
		if !key[1].IsZero() {
			lines[key[0]] += n
		}
	}
	for _, t := range r.orgs {
		t.held, t.lines = all[t.org], lines[t.org]
	}
}

// pick gives the groups the slots that allocate assigned. A group with fewer jobs returns the remaining slots.
func (r *feedRound) pick(ctx context.Context) error {
	var (
		orgs, lines []id.ID
		kinds       []string
		quotas      []int
	)
	asked := map[[2]id.ID]*group{}
	owners := map[[2]id.ID]*tenant{}
	for _, t := range r.orgs {
		for _, g := range t.groups {
			if g.got == 0 {
				continue
			}
			key := [2]id.ID{g.org, g.line}
			asked[key], owners[key] = g, t
			for _, k := range g.kinds {
				orgs, lines, kinds, quotas = append(orgs, g.org), append(lines, g.line), append(kinds, k),
					append(quotas, g.got)
			}
		}
	}
	rows, err := r.tx.Query(ctx, pickSQL, string(r.lane), orgs, lines, kinds, quotas, r.ledger.First)
	if err != nil {
		return err
	}
	var one given
	before := maps.Clone(r.turns)
	_, err = pgx.ForEachRow(rows,
		[]any{&one.Org, &one.ID, &one.Kind, &one.Lane, &one.MaxAttempts, &one.Dispatch, &one.line, &one.turn},
		func() error {
			key := [2]id.ID{one.Org, one.line}
			one.turn += before[key]
			r.fed = append(r.fed, one)
			r.turns[key]++
			asked[key].got--
			if p := r.rated[key]; p != nil {
				p.give(1)
				r.advanceRate[key] = p.next
			}
			return nil
		})
	for key, g := range asked {
		if g.got > 0 {
			t := owners[key]
			g.empty, g.held, t.held = true, g.held-g.got, t.held-g.got
			if !g.line.IsZero() {
				t.lines -= g.got
			}
		}
		g.got = 0
	}
	return err
}

// charge stores when the rate-limited keys get their next slot.
func (r *feedRound) charge() {
	var orgs, lines []id.ID
	var next []float64
	for key, at := range r.advanceRate {
		orgs, lines, next = append(orgs, key[0]), append(lines, key[1]), append(next, at)
	}
	if len(next) > 0 {
		r.tx.Queue(tollSQL, orgs, lines, next)
	}
}

// inTurn returns the fed jobs in the order in which to enqueue them: the first of each group first.
func (r *feedRound) inTurn() []Ref {
	slices.SortStableFunc(r.fed, func(a, b given) int { return a.turn - b.turn })
	refs := make([]Ref, len(r.fed))
	for i, one := range r.fed {
		refs[i] = one.Ref
	}
	return refs
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
