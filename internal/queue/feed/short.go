package feed

import (
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// refillGroups is how many groups an org may have to be served by refills. Orgs with more wait for the rounds.
const refillGroups = 30

// Short reports whether the org has due jobs that wait only for other jobs of its concurrency keys to end, as of this
// Feeder's last round or refill for the org. If so, call Refill when one of the org's jobs has ended.
func (f *Feeder) Short(lane queue.Lane, org id.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.short[lane][org]
}

// remember records which orgs a round left short. It records none if the round was cut short, so that some orgs may not
// have got all that they may have, or if the lane is paused.
func (f *Feeder) remember(r *round, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	short := f.short[r.lane]
	if short == nil || !all || r.of == nil && r.from == (cursor{}) && r.to == (cursor{}) {
		short = map[id.ID]bool{}
		f.short[r.lane] = short
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
func (r *round) short(t *tenant) bool {
	return t.lines > 0 && len(t.groups) <= refillGroups && slices.ContainsFunc(t.groups, func(g *group) bool {
		return !g.line.IsZero() && !g.empty && g.most > 0 && r.rated[[2]id.ID{g.org, g.line}] == nil
	})
}
