package feed

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// group is the waiting jobs of one concurrency key of an org, or of all its jobs without a key (the zero key), in one
// lane.
type group struct {
	org, line id.ID
	kinds     []string // kinds that are not paused
	oldest    float64  // when its first job was due, in epoch seconds
	held      int      // slots held
	most      int      // maximum slots, including this round's rate limit
	got       int      // slots assigned in this round
	empty     bool     // no more jobs to pick
}

// tenant is one org's demand in a lane.
type tenant struct {
	org    id.ID
	weight int
	keyed  int // slots of all keys together, times the weight
	held   int // the org's slots in this lane, this round's included
	lines  int // the part of held that concurrency keys hold
	oldest float64
	groups []*group
	last   cursor // of its last group that was read
}

// nextGroup returns the org's group that gets the next slot: the one with the fewest slots of those below their limits.
// It returns nil if there is none.
func (t *tenant) nextGroup() *group {
	var best *group
	for _, g := range t.groups {
		if g.empty || g.held >= g.most {
			continue
		}
		most := queue.MaxInFlight * t.weight
		if !g.line.IsZero() {
			most = t.keyed*t.weight - t.lines
		}
		if g.held >= most {
			continue
		}
		if best == nil ||
			cmp.Or(cmp.Compare(g.held, best.held), cmp.Compare(g.oldest, best.oldest),
				bytes.Compare(g.line[:], best.line[:])) < 0 {
			best = g
		}
	}
	return best
}

// giveSlot assigns one slot to g.
func (t *tenant) giveSlot(g *group) {
	g.got++
	g.held++
	t.held++
	if !g.line.IsZero() {
		t.lines++
	}
}

// before reports whether t gets a slot before o. The org that would hold the fewest slots for its weight comes first.
func (t *tenant) before(o *tenant) bool {
	return cmp.Or(cmp.Compare((t.held+1)*o.weight, (o.held+1)*t.weight), cmp.Compare(t.oldest, o.oldest),
		bytes.Compare(t.org[:], o.org[:])) < 0
}

// turns is a heap of the orgs that may get more slots.
type turns []*tenant

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].before(t[j]) }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(x any)        { *t = append(*t, x.(*tenant)) }
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// allocateSlots assigns up to room slots one at a time and returns how many it assigned. Each slot goes to the org that
// holds the fewest for its weight, and there to the group that holds the fewest, within each group's limit.
func allocateSlots(orgs []*tenant, room int) (given int) {
	h := turns(slices.DeleteFunc(slices.Clone(orgs), func(t *tenant) bool { return t.nextGroup() == nil }))
	heap.Init(&h)
	for given < room && len(h) > 0 {
		t := h[0]
		t.giveSlot(t.nextGroup())
		given++
		if t.nextGroup() == nil {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return given
}
