package feed

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

const (
	feedGroups = 1000 // groups per round of a lane; the next round continues after them
	feedTries  = 4    // times that a round reassigns slots that groups could not fill
)

// round is one round of a lane's feeder.
type round struct {
	lane        queue.Lane
	from        cursor // where the walk started
	to          cursor // where the walk stopped; zero if it saw all groups
	tx          *postgres.Tx
	feeder      *Feeder
	orgs        []*tenant
	fed         []given
	turns       map[[2]id.ID]int     // slots assigned by group
	rated       map[[2]id.ID]*pace   // rate-limited keys
	advanceRate map[[2]id.ID]float64 // time of the next slot of keys that got slots
}

type given struct {
	queue.Ref
	line id.ID
	turn int // position within its group
}

// readGroups reads the waiting groups and the slots that they hold, for a round that assigns at most limit slots.
func (r *round) readGroups(ctx context.Context, limit int) error {
	held := map[[2]id.ID]int{}
	r.tx.Queue(store.InOrderSQL + store.AsyncCommitSQL)
	r.tx.Queue(feedsSQL, string(r.lane))
	r.tx.Queue(heldSQL, string(r.lane)).Query(func(rows pgx.Rows) error {
		var org, line id.ID
		var n int
		_, err := pgx.ForEachRow(rows, []any{&org, &line, &n}, func() error {
			held[[2]id.ID{org, line}] = n
			return nil
		})
		return err
	})
	r.from = r.feeder.cursorOf(r.lane)
	rows, err := r.tx.Query(ctx, groupsSQL, string(r.lane), feedGroups, queue.Slots, r.from.org, r.from.line,
		r.from.kind)
	if err != nil {
		return err
	}
	var (
		at       cursor
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
				ofOrg = &tenant{org: at.org, weight: weight, keyed: queue.LinesOf(r.lane), oldest: oldest}
				r.orgs, ofLine = append(r.orgs, ofOrg), nil
			}
			ofOrg.last = at
			if ofLine == nil || lastLine != key {
				ofLine = &group{org: at.org, line: at.line, oldest: oldest, held: held[key], most: most}
				if rate != nil {
					r.rated[key] = newPace(*rate, *next, min(oldest, now), now)
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
	r.sumHeld(held)
	if n == feedGroups {
		r.to = at
	}
	if n == feedGroups || r.from != (cursor{}) {
		r.endBehind(limit)
	}
	r.feeder.saveCursor(r.lane, r.to)
	return nil
}

// endBehind ends a round that does not see all groups after as many orgs as it has slots for, so that each of them gets
// one and the next round serves those behind them. If the round chose among more orgs, those that have waited longest
// would get slots again and again, and a new job of another org would wait until their old jobs are done.
func (r *round) endBehind(limit int) {
	for i, t := range r.orgs {
		if t.nextGroup() == nil {
			continue
		}
		if limit -= t.weight; limit <= 0 && i+1 < len(r.orgs) {
			r.orgs, r.to = r.orgs[:i+1], t.last
			return
		}
	}
}

// sumHeld sums the held slots by org.
func (r *round) sumHeld(held map[[2]id.ID]int) {
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

// pickJobs gives the groups the slots that allocate assigned. A group with fewer jobs returns the remaining slots.
func (r *round) pickJobs(ctx context.Context) error {
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
	rows, err := r.tx.Query(ctx, pickSQL, string(r.lane), orgs, lines, kinds, quotas, r.feeder.store.First)
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
				p.advanceBy(1)
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

// storePaces stores when the rate-limited keys get their next slot.
func (r *round) storePaces() {
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
func (r *round) inTurn() []queue.Ref {
	slices.SortStableFunc(r.fed, func(a, b given) int { return a.turn - b.turn })
	refs := make([]queue.Ref, len(r.fed))
	for i, one := range r.fed {
		refs[i] = one.Ref
	}
	return refs
}
