package queue

import (
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

// A line's slots are few and its runs may be short, so that it would spend most of its time waiting for the next
// round of the feeder. A refill is a round for those orgs alone whose runs have just ended, under the same lock and
// by the same rules. It is for orgs of which a round saw everything, where that round gave everybody all that they may
// have: then nothing that a refill gives is another org's due, and no line is passed over.
const (
	refillOrgs   = 30 // in one refill
	refillGroups = 30 // of each; what has more waits for the rounds
)

const heldOfSQL = heldOf + ` AND org_id = ANY ($2::uuid[])` + byLine

// groupsOfSQL is groupsSQL within the orgs that are named.
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

// Refill is Feed for those of the orgs of which Short says so. later are those that have to be asked for again,
// because another feeder feeds the lane or because they are too many for one time.
func (l *Ledger) Refill(ctx context.Context, lane Lane, limit int, orgs []id.ID) (refs []Ref, later []id.ID, err error) {
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

// Short tells whether jobs of the org wait for nothing but the end of others of their lines, as far as this ledger's
// last look at them tells: ask for a Refill when one of the org's has ended.
func (l *Ledger) Short(lane Lane, org id.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.short[lane][org]
}

// remember keeps whom a round left short. It is nobody where some may not have got all that they may have, or where the
// lane is paused.
func (l *Ledger) remember(r *round, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.short == nil {
		l.short = map[Lane]map[id.ID]bool{}
	}
	short := l.short[r.lane]
	if short == nil || !all || r.of == nil && r.from == (spot{}) && r.to == (spot{}) {
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

// short tells whether the org has lines that have to wait for one of them to end. Lines with a rate wait for theirs.
func (r *round) short(t *tenant) bool {
	return t.lines > 0 && len(t.groups) <= refillGroups && slices.ContainsFunc(t.groups, func(g *group) bool {
		return !g.line.IsZero() && !g.empty && g.most > 0 && r.rated[[2]id.ID{g.org, g.line}] == nil
	})
}
