package queue

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

// group is what waits of one line of an org, or of all its jobs without one (the zero line), in one lane.
type group struct {
	org, line id.ID
	kinds     []string // those that are not paused
	oldest    float64  // when its first job was due, in seconds
	held      int      // slots that it holds
	most      int      // slots that it may hold, this round's rate included
	got       int      // slots that this round gives it
	empty     bool     // has nothing more to give
}

// tenant is one org's claim on a lane.
type tenant struct {
	org    id.ID
	weight int
	held   int // slots of the org in this lane, this round's included
	lines  int // those of them that its lines hold
	oldest float64
	groups []*group
}

// first is the org's group whose turn it is, nil for none: the one that holds least of those that may have more.
func (t *tenant) first() *group {
	var best *group
	for _, g := range t.groups {
		if g.empty || g.held >= g.most {
			continue
		}
		if g.line.IsZero() && g.held >= Window*t.weight || !g.line.IsZero() && g.held >= Lines*t.weight-t.lines {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(g.held, best.held), cmp.Compare(g.oldest, best.oldest), bytes.Compare(g.line[:], best.line[:])) < 0 {
			best = g
		}
	}
	return best
}

// give hands one slot to g.
func (t *tenant) give(g *group) {
	g.got++
	g.held++
	t.held++
	if !g.line.IsZero() {
		t.lines++
	}
}

// before tells whose turn comes first: the org's that would hold the least for its weight.
func (t *tenant) before(o *tenant) bool {
	return cmp.Or(cmp.Compare((t.held+1)*o.weight, (o.held+1)*t.weight), cmp.Compare(t.oldest, o.oldest), bytes.Compare(t.org[:], o.org[:])) < 0
}

// turns is a heap of the orgs that may have more.
type turns []*tenant

func (h turns) Len() int           { return len(h) }
func (h turns) Less(i, j int) bool { return h[i].before(h[j]) }
func (h turns) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *turns) Push(x any)        { *h = append(*h, x.(*tenant)) }
func (h *turns) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// share gives out room slots, one after the other, and answers how many found a taker. Each goes to the org that
// holds the fewest for its weight, and there to the line that holds the fewest; what a group may hold bounds it.
func share(orgs []*tenant, room int) (given int) {
	h := turns(slices.DeleteFunc(slices.Clone(orgs), func(t *tenant) bool { return t.first() == nil }))
	heap.Init(&h)
	for given < room && len(h) > 0 {
		t := h[0]
		t.give(t.first())
		given++
		if t.first() == nil {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return given
}
