package feed

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// naive assigns slots one by one with a full scan each time, and returns the slots of each group.
func naive(orgs []*tenant, room int) map[*group]int {
	got := map[*group]int{}
	for range room {
		var org *tenant
		var best *group
		for _, t := range orgs {
			all, lines := t.held, t.lines
			for _, g := range t.groups {
				if all += got[g]; !g.line.IsZero() {
					lines += got[g]
				}
			}
			var first *group
			for _, g := range t.groups {
				holds := g.held + got[g]
				limit := min(g.most, queue.MaxInFlight*t.weight)
				if !g.line.IsZero() {
					limit = min(g.most, t.keyed*t.weight-lines)
				}
				if g.empty || holds >= limit {
					continue
				}
				if first == nil ||
					cmp.Or(cmp.Compare(holds, first.held+got[first]), cmp.Compare(g.oldest, first.oldest),
						bytes.Compare(g.line[:], first.line[:])) < 0 {
					first = g
				}
			}
			if first == nil {
				continue
			}
			turn := float64(all+1) / float64(t.weight)
			if org != nil {
				held := org.held
				for _, g := range org.groups {
					held += got[g]
				}
				if cmp.Or(cmp.Compare(turn, float64(held+1)/float64(org.weight)), cmp.Compare(t.oldest, org.oldest),
					bytes.Compare(t.org[:], org.org[:])) >= 0 {
					continue
				}
			}
			org, best = t, first
		}
		if best == nil {
			break
		}
		got[best]++
	}
	return got
}

func TestSlotsAreSharedAsANaiveEvaluatorSharesThem(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 8))
		var orgs []*tenant
		for range 1 + r.IntN(8) {
			o := &tenant{org: id.New(), weight: 1 << r.IntN(3), keyed: queue.Lines, oldest: float64(r.IntN(4))}
			for n := range 1 + r.IntN(14) {
				g := &group{
					org: o.org, held: r.IntN(12), most: r.IntN(40), oldest: float64(r.IntN(4)),
					empty: r.IntN(8) == 0,
				}
				if n > 0 || r.IntN(2) == 0 {
					g.line = id.New()
					o.lines += g.held
				} else {
					g.most = 1000
				}
				o.held += g.held
				o.groups = append(o.groups, g)
			}
			orgs = append(orgs, o)
		}
		room := r.IntN(300)
		want := naive(orgs, room)
		sum := 0
		given := allocateSlots(orgs, room)
		for _, o := range orgs {
			for i, g := range o.groups {
				if sum += g.got; g.got != want[g] {
					t.Fatalf("seed %d, room %d, weight %d, group %d: got %d, want %d", seed, room, o.weight, i, g.got,
						want[g])
				}
			}
		}
		if sum != given || given > room {
			t.Fatalf("seed %d: %d given, %d counted, room %d", seed, given, sum, room)
		}
	}
}
