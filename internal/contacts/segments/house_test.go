package segments_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// shop is one org in its own database.
type shop struct {
	*testkit.Database
	t    testing.TB
	org  id.ID
	pace segments.Pace
	born map[id.ID]map[id.ID]bool // live members of a segment when it was first ready
}

func open(t testing.TB) *shop {
	t.Helper()
	s := &shop{Database: testkit.DB(t), t: t, org: id.New(), pace: segments.Usual(), born: map[id.ID]map[id.ID]bool{}}
	s.newOrg(s.org)
	return s
}

func (s *shop) newOrg(org id.ID) {
	s.t.Helper()
	if err := s.System.Tx(s.t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, org)
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
}

// beside creates another org in the same database.
func (s *shop) beside() *shop {
	s.t.Helper()
	other := *s
	other.org, other.born = id.New(), map[id.ID]map[id.ID]bool{}
	other.newOrg(other.org)
	return &other
}

func (s *shop) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	s.t.Helper()
	if err := s.try(fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) try(fn func(ctx context.Context, tx *postgres.Tx) error) error {
	return s.App.Tx(s.t.Context(), s.org, func(tx *postgres.Tx) error { return fn(s.t.Context(), tx) })
}

// rate is a scorer: 10 points per tag.
func rate(c *contacts.Contact) (float64, events.ContactScore) {
	lead := min(10*float64(len(c.Tag)), 100)
	return lead, events.ContactScore{Probability: lead / 100, Confidence: "prior", ModelVersion: "test-1"}
}

func some[T any](v T) wire.Field[T] { return wire.Some(v) }

func person(n int, also ...func(*contacts.Patch)) *contacts.Patch {
	p := &contacts.Patch{
		Email: some(fmt.Sprintf("p%d@acme.example", n)), FirstName: some("Ada"),
		LastName: some("Lovelace"),
	}
	for _, f := range also {
		f(p)
	}
	return p
}

func stage(v string) func(*contacts.Patch)   { return func(p *contacts.Patch) { p.Stage = some(v) } }
func tags(v ...string) func(*contacts.Patch) { return func(p *contacts.Patch) { p.Tag = some(v) } }

func (s *shop) create(p *contacts.Patch) (row contacts.Row) {
	s.t.Helper()
	s.tx(func(_ context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx, p, rate)
		return err
	})
	return row
}

func (s *shop) patch(i id.ID, f func(*contacts.Patch)) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		var p contacts.Patch
		f(&p)
		_, err := contacts.Update(ctx, tx, i, nil, &p, rate)
		return err
	})
}

func (s *shop) archive(i id.ID) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Archive(ctx, tx, i, nil)
		return err
	})
}

func (s *shop) restore(i id.ID) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Restore(ctx, tx, i)
		return err
	})
}

func (s *shop) segment(name, filter string) (row segments.Row) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = segments.Create(ctx, tx, segments.New{Name: name, Filter: []byte(filter)})
		return err
	})
	return row
}

func (s *shop) get(i id.ID) (row segments.Row) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = segments.Get(ctx, tx, i, true)
		return err
	})
	return row
}

func allow(*segments.Row) error { return nil }

func (s *shop) refilter(i id.ID, filter string) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := segments.Update(ctx, tx, i, allow, segments.Patch{Filter: some([]byte(filter))})
		return err
	})
}

// sync runs the job once.
func (s *shop) sync() {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Sync(ctx, tx, s.pace) })
}

func (s *shop) waits() bool {
	s.t.Helper()
	orgs, err := segments.Waiting(s.t.Context(), s.System, "segment.sync")
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.Contains(orgs, s.org)
}

// drain runs the job until it has nothing to do.
func (s *shop) drain() {
	s.t.Helper()
	for s.waits() {
		s.sync()
		s.births()
	}
}

// births records the members of segments that are ready for the first time.
func (s *shop) births() {
	s.t.Helper()
	for i, key := range s.table(`SELECT id, key FROM segment WHERE org_id = $1 AND kind = 'dynamic' AND NOT quiet`) {
		if s.born[i] == nil {
			s.born[i] = map[id.ID]bool{}
			for c := range s.members(i, false) {
				s.born[i][c] = true
			}
			_ = key
		}
	}
}

// table reads pairs of an id and a text.
func (s *shop) table(sql string, args ...any) map[id.ID]string {
	s.t.Helper()
	out := map[id.ID]string{}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, sql, append([]any{s.org}, args...)...)
		if err != nil {
			return err
		}
		var (
			i id.ID
			v string
		)
		_, err = pgx.ForEachRow(rows, []any{&i, &v}, func() error {
			out[i] = v
			return nil
		})
		return err
	})
	return out
}

// members returns the stored members on one side.
func (s *shop) members(segment id.ID, archived bool) map[id.ID]string {
	s.t.Helper()
	return s.table(`SELECT contact_id, count(*)::text FROM segment_member WHERE org_id = $1 AND segment_id = $2
		AND archived = $3 GROUP BY 1`, segment, archived)
}

// everybody returns every contact, live and archived.
func (s *shop) everybody() (rows []contacts.Row) {
	s.t.Helper()
	ids := slices.Collect(maps.Keys(s.table(`SELECT id, '' FROM contact WHERE org_id = $1`)))
	s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		rows, err = contacts.Bare(ctx, tx, ids)
		return err
	})
	return rows
}

type story struct{ Type, Segment, Contact string }

// told returns the membership events, in order.
func (s *shop) told() (out []story) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT type, data -> 'object' ->> 'segment_id', data -> 'object' ->> 'contact_id' FROM event
				WHERE org_id = $1 AND type LIKE 'segment.%' ORDER BY seq`, s.org)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowToStructByPos[story])
		return err
	})
	return out
}

// check compares everything stored with what the filters and contacts imply: members, counts, the segments of contacts,
// and the sum of the events.
func (s *shop) check() {
	s.t.Helper()
	all, now := s.everybody(), map[id.ID]map[id.ID]bool{}
	for _, r := range all {
		_ = r
	}
	shown := map[id.ID][]string{}
	live := s.table(
		`SELECT id, filter::text FROM segment WHERE org_id = $1 AND kind = 'dynamic' AND archived_at IS NULL`)
	for i, raw := range live {
		seg, want := s.get(i), [2]map[id.ID]string{{}, {}}
		if seg.Status != segments.Ready {
			s.t.Errorf("%s is %s", seg.Key, seg.Status)
		}
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			f, err := contacts.ParseFilter(ctx, tx, []byte(raw))
			if err != nil {
				return err
			}
			for _, c := range all {
				if !f.Match(contacts.RecordOf(&c.Contact)) {
					continue
				}
				shown[c.ID] = append(shown[c.ID], seg.Key)
				if c.ArchivedAt == nil {
					want[0][c.ID] = "1"
				} else {
					want[1][c.ID] = "1"
				}
			}
			return nil
		})
		for side, archived := range []bool{false, true} {
			if diff := cmp.Diff(want[side], s.members(i, archived)); diff != "" {
				s.t.Errorf("%s %s, archived %v:\n%s", seg.Key, raw, archived, diff)
			}
		}
		if int(seg.ContactCount) != len(want[0]) {
			s.t.Errorf("%s counts %d, has %d", seg.Key, seg.ContactCount, len(want[0]))
		}
		now[i] = map[id.ID]bool{}
		for c := range want[0] {
			now[i][c] = true
		}
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		for _, c := range all {
			row, err := contacts.Get(ctx, tx, c.ID, true)
			if err != nil {
				return err
			}
			slices.Sort(shown[c.ID])
			if fmt.Sprint(row.Dynamic) != fmt.Sprint(shown[c.ID]) {
				s.t.Errorf("a contact shows %v, is in %v", row.Dynamic, shown[c.ID])
			}
		}
		return nil
	})
	known := map[string]bool{}
	for _, c := range all {
		known[c.ID.String()] = true
	}
	s.fold(now, known)
}

// fold replays the events, compares the result with the members, and reports repeated events. It skips purged contacts,
// which are not in known.
func (s *shop) fold(now map[id.ID]map[id.ID]bool, known map[string]bool) {
	s.t.Helper()
	sum := map[string]bool{}
	for seg, first := range s.born {
		for c := range first {
			sum[seg.String()+c.String()] = true
		}
	}
	for _, e := range s.told() {
		at, entered := e.Segment+e.Contact, e.Type == "segment.entered"
		if sum[at] == entered && known[e.Contact] {
			s.t.Errorf("%v is told of one for whom it is so already", e)
		}
		sum[at] = entered
	}
	for seg, members := range now {
		for c := range known {
			if is := members[must(c)]; is != sum[seg.String()+c] {
				s.t.Errorf("events say %v of contact %s in %s, rows %v", sum[seg.String()+c], c, seg, is)
			}
		}
	}
}

func must(s string) id.ID {
	i, err := id.Parse(s)
	if err != nil {
		panic(err)
	}
	return i
}

func raw(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// notThere reports whether err is a not_found fault, or an address that another contact took concurrently.
func notThere(err error) bool {
	_, taken := errors.AsType[*contacts.TakenError](err)
	return taken || fault.Is(err, fault.NotFound)
}
