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
	feedGroups = 1000 // groups that one round of a lane looks at; the next one goes on behind them
	feedTries  = 4    // times that a round gives out again what groups left because they had fewer jobs
	ripe       = 1000 // jobs whose time has come that one round lets wait for a slot
)

// spot is a group's place in the index; the zero spot is before all of them.
type spot struct {
	org, line id.ID
	kind      string
}

// ripenSQL moves jobs whose time has come from those that wait for it to those that wait for a slot. Half of a
// round are the oldest and half the newest, so that a crowd with one time does not stand before what comes later.
const ripenSQL = `
WITH oldest AS MATERIALIZED (
	SELECT org_id, id FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at <= now() ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED
), newest AS MATERIALIZED (
	SELECT org_id, id FROM job WHERE state = 'ready' AND wake_at IS NULL AND NOT due AND run_at <= now() ORDER BY run_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE job SET due = true
FROM (SELECT org_id, id FROM oldest UNION SELECT org_id, id FROM newest) AS ripe
WHERE job.org_id = ripe.org_id AND job.id = ripe.id`

// The LIMIT keeps it a probe for each lane: of EXISTS the planner makes a join that reads all that waits.
const waitingSQL = `
SELECT l.lane FROM unnest($1::text[]) AS l (lane)
CROSS JOIN LATERAL (SELECT FROM job WHERE job.lane = l.lane AND job.state = 'ready' AND job.wake_at IS NULL AND job.due LIMIT 1) AS one`

// Waiting answers the lanes in which something waits for a slot: an index probe each, and one for jobs whose time
// has come since.
func (l *Ledger) Waiting(ctx context.Context) ([]Lane, error) {
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

// One feeder at a time feeds a lane, so that what it counted still holds when it gives. The others do nothing:
// the statements behind this one ask app.feeds.
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

// groupsSQL steps from group to group in job_waiting; a group is an org, a line and a kind. The LIMIT keeps each line a
// probe: in a plan that was made while there were few lines, a join would read all of them for each group.
const groupsSQL = `
WITH RECURSIVE walk AS (
	(SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
	WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL AND due AND current_setting('app.feeds') = 'true'
		AND (org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > ($4::uuid, $5::uuid, $6::text)
	ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1)
	UNION ALL
	SELECT n.org_id, n.line, n.kind, n.run_at
	FROM walk w CROSS JOIN LATERAL (
		SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
		WHERE lane = $1 AND state = 'ready' AND wake_at IS NULL AND due
			AND (org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > (w.org_id, w.line, w.kind)
		ORDER BY org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1
	) AS n
)` + headsSQL

// headsSQL is what a walk over groups found, and what bounds each group.
const headsSQL = `, heads AS MATERIALIZED (
	SELECT * FROM walk LIMIT $2
)
SELECT h.org_id, h.line, h.kind, extract(epoch FROM h.run_at)::float8,
	h.run_at <= now() AND NOT EXISTS (SELECT FROM job_pause p WHERE (p.scope, p.name) IN (('kind', h.kind), ('org', h.org_id::text))),
	coalesce(w.weight, 1),
	CASE WHEN h.line = '00000000-0000-0000-0000-000000000000' THEN 1000000 WHEN l.held_until > now() THEN 0 WHEN l.probing THEN 1 ELSE coalesce(l.slots, $3) END,
	l.rate, extract(epoch FROM l.next_at)::float8, extract(epoch FROM now())::float8
FROM heads h
LEFT JOIN job_weight w ON w.org_id = h.org_id
LEFT JOIN LATERAL (SELECT * FROM job_line WHERE job_line.org_id = h.org_id AND job_line.id = h.line LIMIT 1) AS l ON true
ORDER BY h.org_id, h.line, h.kind`

// pickSQL gives slots: to each group, its kinds together, as many as its quota, in the order in which they were due.
// Rows beyond a quota are locked for the moment of this transaction only. The order names all columns of job_waiting:
// under row policies the planner takes no coalesce() for a constant, and would sort a whole group for its first few.
const pickSQL = `
WITH pick AS MATERIALIZED (
	SELECT p.org_id, p.id, g.quota, row_number() OVER (PARTITION BY g.org_id, g.line ORDER BY p.run_at, p.id) AS turn
	FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[]) AS g (org_id, line, kind, quota)
	CROSS JOIN LATERAL (
		SELECT job.org_id, job.id, job.run_at FROM job
		WHERE job.lane = $1 AND job.org_id = g.org_id AND coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid) = g.line AND job.kind = g.kind
			AND job.state = 'ready' AND job.wake_at IS NULL AND job.due AND job.run_at <= now()
		ORDER BY job.lane, job.org_id, coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid), job.kind, job.run_at, job.id LIMIT g.quota
		FOR UPDATE SKIP LOCKED
	) AS p
)
UPDATE job SET wake_at = now() + $6::interval
FROM pick WHERE pick.turn <= pick.quota AND job.org_id = pick.org_id AND job.id = pick.id
RETURNING` + ref + `, coalesce(job.line, '00000000-0000-0000-0000-000000000000'::uuid), pick.turn`

// tollSQL moves lines with a rate on by what they were given.
const tollSQL = `
UPDATE job_line SET next_at = to_timestamp(g.next_at)
FROM unnest($1::uuid[], $2::uuid[], $3::float8[]) AS g (org_id, id, next_at)
WHERE job_line.org_id = g.org_id AND job_line.id = g.id`

// standstill is how much of a feeder's own standstill a rate makes up for.
const standstill = 500 * time.Millisecond

// pace is a line's rate: one slot each 1/rate seconds from next on. What could have been given while nothing
// waited, or longer ago than a standstill, is not made up for.
type pace struct {
	rate int
	next float64 // epoch seconds, as all times here
}

func newPace(rate int, next, oldest, now float64) *pace {
	return &pace{rate, max(next, oldest, now-standstill.Seconds())}
}

// room is how many slots the line may get by now.
func (p *pace) room(now float64) int {
	if p.next > now {
		return 0
	}
	return 1 + int((now-p.next)*float64(p.rate))
}

func (p *pace) give(n int) { p.next += float64(n) / float64(p.rate) }

// Feed is T2: it gives slots to at most limit waiting jobs of a lane whose time has come. Each slot goes to the org
// that holds the fewest for its weight, there to the line that holds the fewest, and there to the job that was due
// first. Push what it answers. It answers nothing while another feeder feeds the lane, or while that is paused.
func (l *Ledger) Feed(ctx context.Context, lane Lane, limit int) ([]Ref, error) {
	refs, _, err := l.feed(ctx, lane, limit, nil)
	return refs, err
}

// feed is Feed, of some orgs alone where they are named; busy is another feeder's feeding the lane.
func (l *Ledger) feed(ctx context.Context, lane Lane, limit int, of []id.ID) (refs []Ref, busy bool, err error) {
	var r round
	err = l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		r = round{lane: lane, of: of, tx: tx, ledger: l, turns: map[[2]id.ID]int{}, rated: map[[2]id.ID]*pace{}, toll: map[[2]id.ID]float64{}}
		if err := r.look(ctx); err != nil {
			return err
		}
		for range feedTries {
			if share(r.orgs, limit-len(r.fed)) == 0 {
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

// round is one round of a lane's feeder.
type round struct {
	lane   Lane
	of     []id.ID // the only orgs it is for; nil for all
	feeds  string  // "true", or "false" where another feeder feeds the lane, or "paused"
	from   spot    // where it began to look
	to     spot    // where it stopped; zero if it saw all that was there
	tx     *postgres.Tx
	ledger *Ledger
	orgs   []*tenant
	fed    []given
	turns  map[[2]id.ID]int     // slots that each group was given
	rated  map[[2]id.ID]*pace   // the lines with a rate
	toll   map[[2]id.ID]float64 // when those that got slots get the next one
}

type given struct {
	Ref
	line id.ID
	turn int // within its group
}

// look reads who waits and what they hold.
func (r *round) look(ctx context.Context) error {
	held := map[[2]id.ID]int{}
	r.tx.Queue(lazySQL)
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
		_, err := pgx.ForEachRow(rows, []any{&org, &line, &n}, func() error { held[[2]id.ID{org, line}] = n; return nil })
		return err
	})
	r.from = r.ledger.spot(r.lane)
	groups, args := groupsSQL, []any{string(r.lane), feedGroups, Slots, r.from.org, r.from.line, r.from.kind}
	if r.of != nil {
		groups, args = groupsOfSQL, append(args[:3], r.of)
	}
	rows, err := r.tx.Query(ctx, groups, args...)
	if err != nil {
		return err
	}
	var (
		at       spot
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
	_, err = pgx.ForEachRow(rows, []any{&at.org, &at.line, &at.kind, &oldest, &may, &weight, &most, &rate, &next, &now}, func() error {
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
		r.ledger.goOn(r.lane, r.to)
	}
	return nil
}

// count adds up what the orgs hold.
func (r *round) count(held map[[2]id.ID]int) {
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

// pick gives the groups what share said. A group that has fewer jobs gives the rest back.
func (r *round) pick(ctx context.Context) error {
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
				orgs, lines, kinds, quotas = append(orgs, g.org), append(lines, g.line), append(kinds, k), append(quotas, g.got)
			}
		}
	}
	rows, err := r.tx.Query(ctx, pickSQL, string(r.lane), orgs, lines, kinds, quotas, r.ledger.First)
	if err != nil {
		return err
	}
	var one given
	before := maps.Clone(r.turns)
	_, err = pgx.ForEachRow(rows, []any{&one.Org, &one.ID, &one.Kind, &one.Lane, &one.MaxAttempts, &one.Dispatch, &one.line, &one.turn}, func() error {
		key := [2]id.ID{one.Org, one.line}
		one.turn += before[key]
		r.fed = append(r.fed, one)
		r.turns[key]++
		asked[key].got--
		if p := r.rated[key]; p != nil {
			p.give(1)
			r.toll[key] = p.next
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

// charge writes when the lines with a rate get their next slot.
func (r *round) charge() {
	var orgs, lines []id.ID
	var next []float64
	for key, at := range r.toll {
		orgs, lines, next = append(orgs, key[0]), append(lines, key[1]), append(next, at)
	}
	if len(next) > 0 {
		r.tx.Queue(tollSQL, orgs, lines, next)
	}
}

// inTurn is what was fed, in the order in which it should reach Redis: the first of each group first.
func (r *round) inTurn() []Ref {
	slices.SortStableFunc(r.fed, func(a, b given) int { return a.turn - b.turn })
	refs := make([]Ref, len(r.fed))
	for i, one := range r.fed {
		refs[i] = one.Ref
	}
	return refs
}

func (l *Ledger) spot(lane Lane) spot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.from[lane]
}

func (l *Ledger) goOn(lane Lane, at spot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		l.from = map[Lane]spot{}
	}
	l.from[lane] = at
}

// Full says, for so long, that a lane has enough in Redis: meanwhile T1 pushes nothing there itself.
func (l *Ledger) Full(ctx context.Context, lane Lane, d time.Duration) error {
	return l.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO job_lane (lane, full_until) VALUES ($1, now() + $2::interval) ON CONFLICT (lane) DO UPDATE SET full_until = excluded.full_until", string(lane), d)
		return nil
	})
}
