package segments_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

var rounds = flag.Int("segments.rounds", 15, "rounds of random edits")

type dice struct{ *rand.Rand }

func one[T any](d dice, of []T) T { return of[d.IntN(len(of))] }

var (
	stages  = []string{"lead", "mql", "sql", "customer"}
	allTags = []string{"a", "b", "c", "d"}
)

func (d dice) tags() []string {
	out := []string{}
	for _, t := range allTags {
		if d.IntN(3) == 0 {
			out = append(out, t)
		}
	}
	return out
}

// question returns a random filter with at most deep more levels.
func (d dice) question(deep int) map[string]any {
	if deep > 0 && d.IntN(2) == 0 {
		if d.IntN(4) == 0 {
			return map[string]any{"not": d.question(deep - 1)}
		}
		var parts []any
		for range 1 + d.IntN(3) {
			parts = append(parts, d.question(deep-1))
		}
		return map[string]any{one(d, []string{"all", "any"}): parts}
	}
	leaf := func(field, op string, value any) map[string]any {
		return map[string]any{"field": field, "op": op, "value": value}
	}
	return one(d, []map[string]any{
		leaf("stage", "eq", one(d, stages)), leaf("stage", "not_in", []string{one(d, stages), one(d, stages)}),
		leaf("tag", "eq", one(d, allTags)), leaf("tag", "ne", one(d, allTags)),
		leaf("tag", "exists", d.IntN(2) == 0), leaf("lead_score", "gte", 10*float64(d.IntN(5))),
		leaf("attributes.size", "lt", float64(d.IntN(10))),
		leaf("attributes.size", "exists", d.IntN(2) == 0),
		leaf("first_name", "starts_with", one(d, []string{"A", "b", "ad"})), leaf("phone", "exists", d.IntN(2) == 0),
		leaf("created_at", "gt", "2026-01-01T00:00:00Z"), leaf("updated_at", "gt", "2020-01-01T00:00:00Z"),
	})
}

// edit sets random fields of p.
func (d dice) edit(p *contacts.Patch) {
	for range 1 + d.IntN(3) {
		switch d.IntN(6) {
		case 0:
			p.Stage = some(one(d, stages))
		case 1:
			p.Tag = some(d.tags())
		case 2:
			p.FirstName = some(one(d, []string{"Ada", "Bob", "Åsa"}))
		case 3:
			p.Phone = some(one(d, []string{"", "1"}))
		case 4:
			p.Attributes = some(map[string]any{"size": float64(d.IntN(10))})
		case 5:
			p.Segment = some([]string{one(d, []string{"hand", "made"})})
		}
	}
}

// act executes a random edit of a contact, of a batch of contacts, or of a segment.
func (s *shop) act(d dice, n int) {
	s.t.Helper()
	live := slices.Collect(maps.Keys(s.table(`SELECT id, '' FROM contact WHERE org_id = $1 AND archived_at IS NULL`)))
	shelved := slices.Collect(
		maps.Keys(s.table(`SELECT id, '' FROM contact WHERE org_id = $1 AND archived_at IS NOT NULL`)))
	segs := slices.Collect(maps.Keys(s.table(`SELECT id, '' FROM segment WHERE org_id = $1 AND kind = 'dynamic'`)))
	order := func(ids []id.ID) {
		slices.SortFunc(ids, func(a, b id.ID) int { return slices.Compare(a[:], b[:]) })
	}
	order(live)
	order(shelved)
	order(segs)
	switch what := d.IntN(20); {
	case what < 3 || len(live) == 0:
		p := person(n)
		d.edit(p)
		s.create(p)
	case what < 9:
		s.patch(one(d, live), d.edit)
	case what < 11:
		s.archive(one(d, live))
	case what < 13 && len(shelved) > 0:
		s.restore(one(d, shelved))
	case what == 13:
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			return contacts.Purge(ctx, tx, one(d, append(live, shelved...)))
		})
	case what == 14:
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := contacts.Rescore(ctx, tx, []id.ID{one(d, live)},
				func(*contacts.Contact) (float64, events.ContactScore) {
					v := float64(d.IntN(50))
					return v, events.ContactScore{Probability: v / 100, Confidence: "learned", ModelVersion: "test-2"}
				}, func(float64, float64) bool { return false }, nil)
			return err
		})
	case what == 15:
		rows := make([]contacts.Upsert, 5)
		for i := range rows {
			rows[i].Patch = *person(1000*n + d.IntN(3)*i)
			d.edit(&rows[i].Patch)
		}
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
			return err
		})
	case what < 18 && len(segs) > 0:
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			i := one(d, segs)
			r, err := segments.Get(ctx, tx, i, true)
			switch {
			case err != nil:
			case r.ArchivedAt != nil:
				_, err = segments.Restore(ctx, tx, i)
			case d.IntN(4) == 0:
				err = segments.Archive(ctx, tx, i, allow)
			default:
				_, err = segments.Update(ctx, tx, i, allow, segments.Patch{Filter: some([]byte(raw(d.question(3))))})
			}
			return err
		})
	case len(segs) < 8:
		s.segment(fmt.Sprint("segment ", n), raw(d.question(3)))
	}
}

// errKilled rolls back a run, as if its worker had died.
var errKilled = errors.New("killed")

func TestAfterAnyEditsTheMembersAreThoseOfTheFiltersAndTheEventsAddUpToThem(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, uint64(time.Now().UnixNano())} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s, d := open(t), dice{rand.New(rand.NewPCG(seed, 7))}
			s.create(person(0, func(p *contacts.Patch) { p.Attributes = some(map[string]any{"size": 1.0}) }))
			n := 1
			for range *rounds {
				// Pieces and runs are so small that a build and a backlog take several of them.
				s.pace = segments.Pace{
					Marks: 1 + d.IntN(20), Changes: 1 + d.IntN(10), Piece: 1 + d.IntN(6),
					For: time.Minute,
				}
				if d.IntN(2) == 0 {
					s.pace.For = 0
				}
				for range d.IntN(12) {
					s.act(d, n)
					n++
					if d.IntN(4) == 0 {
						if err := s.try(func(ctx context.Context, tx *postgres.Tx) error {
							if err := segments.Sync(ctx, tx, s.pace); err != nil || d.IntN(2) == 0 {
								return err
							}
							return errors.Join(tx.Flush(ctx), errKilled)
						}); err != nil && !errors.Is(err, errKilled) {
							t.Fatal(err)
						}
						s.births()
					}
				}
				if s.pace.For == 0 {
					s.pace.For = time.Minute
				}
				s.drain()
				s.check()
				if t.Failed() {
					return
				}
			}
		})
	}
}
