package queue

import (
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

// A concurrency key has few slots and its runs may be short, so it would spend most of its time waiting for the next
// round of the feeder. A refill is a round for only the orgs in which a run has just ended, under the same lock and by
// the same rules. It serves an org only if the last round saw all of the org's groups and gave every org all that it
// may have. A refill therefore takes no slot that is due to another org, and skips no key.
const (
	refillOrgs   = 30 // orgs per refill
	refillGroups = 30 // groups per org; orgs with more wait for the rounds
)

const heldOfSQL = heldOf + ` AND org_id = ANY ($2::uuid[])` + byLine

// groupsOfSQL is groupsSQL limited to the given orgs.
const groupsOfSQL = `
WITH RECURSIVE walk AS (
	SELECT n.org_id, n.line, n.kind, n.run_at
	FROM unnest($4::uuid[]) AS o (org_id) CROSS JOIN LATERAL (
		SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
		WHERE lane = $1 AND org_id = o.org_id AND state = 'ready' AND wake_at IS NULL AND due
		ORDER BY lane, org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1
	) AS n
	WHERE current_setting('app.feeds') = 'true'
	UNION ALL
	SELECT n.org_id, n.line, n.kind, n.run_at
	FROM walk w CROSS JOIN LATERAL (
		SELECT org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) AS line, kind, run_at FROM job
		WHERE lane = $1 AND org_id = w.org_id AND state = 'ready' AND wake_at IS NULL AND due
			AND (coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind) > (w.line, w.kind)
		ORDER BY lane, org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at LIMIT 1
	) AS n
)` + headsSQL

// Refill is Feed for those orgs for which Short returns true. later is the orgs to pass again, because another feeder
// feeds the lane or because there were too many for one refill.
func (l *Store) Refill(ctx context.Context, lane Lane, limit int, orgs []id.ID) (refs []Ref, later []id.ID, err error) {
	orgs = slices.DeleteFunc(slices.Clone(orgs), func(org id.ID) bool { return !l.Short(lane, org) })
	now := orgs[:min(len(orgs), refillOrgs)]
	if len(now) == 0 || limit <= 0 {
		return nil, nil, nil
	}
	refs, busy, err := l.feed(ctx, lane, limit, now)
	if err != nil || busy {
		return nil, orgs, err
	}
	return refs, orgs[len(now):], nil
}

// Short reports whether the org has due jobs that wait only for other jobs of its concurrency keys to end, as of this
// Store's last round or refill for the org. If so, call Refill when one of the org's jobs has ended.
func (l *Store) Short(lane Lane, org id.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.short[lane][org]
}

// remember records which orgs a round left short. It records none if the round was cut short, so that some orgs may not
// have got all that they may have, or if the lane is paused.
func (l *Store) remember(r *feedRound, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.short == nil {
		l.short = map[Lane]map[id.ID]bool{}
	}
	short := l.short[r.lane]
	if short == nil || !all || r.of == nil && r.from == (feedCursor{}) && r.to == (feedCursor{}) {
		short = map[id.ID]bool{}
		l.short[r.lane] = short
	}
	for _, org := range r.of {
		delete(short, org)
	}
	for _, t := range r.orgs {
		delete(short, t.org)
		if all && t.org != r.from.org && t.org != r.to.org && r.short(t) {
			short[t.org] = true
		}
	}
}

// short reports whether the org has concurrency keys that must wait for one of their runs to end. Rate-limited keys do
// not count, because they wait for their rate.
func (r *feedRound) short(t *tenant) bool {
	return t.lines > 0 && len(t.groups) <= refillGroups && slices.ContainsFunc(t.groups, func(g *group) bool {
		return !g.line.IsZero() && !g.empty && g.most > 0 && r.rated[[2]id.ID{g.org, g.line}] == nil
	})
}
