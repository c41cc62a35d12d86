package segments_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

func TestAnOrgHasAtMostTwoHundredSegments(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.tx(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO segment (org_id, id, key, name, kind, created_at)
			SELECT $1, uuidv7_at(now()), 's' || g, 's', 'static', now() FROM generate_series(1, 199) g`, s.org)
		return nil
	})
	last := s.segment("last", customers)
	in := func(keys ...string) func(*contacts.Patch) {
		return func(p *contacts.Patch) { p.Segment = some(keys) }
	}
	s.create(person(1, in("s1", "s199")))
	code := func(err error) string {
		if f := fault.Of(err); f != nil && len(f.Fields) == 1 {
			return f.Fields[0].Pointer + " " + f.Fields[0].Code
		}
		return fmt.Sprint(err)
	}
	for what, do := range map[string]func(ctx context.Context, tx *postgres.Tx) error{
		"#/key too_many_segments": func(ctx context.Context, tx *postgres.Tx) error {
			_, err := segments.Create(ctx, tx, segments.New{Name: "one more"})
			return err
		},
		"#/segment too_many_segments": func(_ context.Context, tx *postgres.Tx) error {
			_, err := contacts.Create(tx, person(2, in("one more")), rate)
			return err
		},
	} {
		if got := code(s.try(do)); got != what {
			t.Errorf("%s, want %s", got, what)
		}
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Archive(ctx, tx, last.ID, allow) })
	s.create(person(3, in("one more")))
	if got := code(s.try(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := segments.Restore(ctx, tx, last.ID)
		return err
	})); got != "#/key too_many_segments" {
		t.Errorf("restoring: %s", got)
	}
}

func TestTwoOrgsShareNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	other := s.beside()
	for _, x := range []*shop{s, other} {
		x.create(person(1, stage("customer")))
		x.segment("Customers", customers)
		x.drain()
	}
	before := cmp.Diff(nil, other.told())
	s.create(person(2, stage("customer")))
	if other.waits() {
		t.Error("another org's change is this one's work")
	}
	s.drain()
	s.check()
	other.check()
	if after := cmp.Diff(nil, other.told()); after != before {
		t.Errorf("another org was told:\n%s", after)
	}
	quiet := s.beside()
	quiet.create(person(1))
	if n := len(quiet.table(`SELECT contact_id, id::text FROM segment_mark WHERE org_id = $1`)); n != 0 {
		t.Errorf("%d marks in an org without dynamic segments", n)
	}
}

func TestManyTalliesAreAddedUpAndFewAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	static := s.static("Guests")
	tallied := func() bool {
		t.Helper()
		orgs, err := segments.Tallied(t.Context(), s.System, "segment.sync")
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(orgs, s.org)
	}
	s.tally(static, 200)
	if tallied() || s.waits() {
		t.Error("200 tallies are work")
	}
	s.tally(static, 1)
	if !tallied() || s.waits() {
		t.Error("201 tallies are no work, or urgent work")
	}
	s.sync()
	if tallied() {
		t.Error("tallies are left")
	}
}

// static creates a static segment.
func (s *shop) static(name string) (i id.ID) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		row, err := segments.Create(ctx, tx, segments.New{Name: name})
		i = row.ID
		return err
	})
	return i
}

// tally stores n members that came to a segment, one by one.
func (s *shop) tally(segment id.ID, n int) {
	s.t.Helper()
	s.tx(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO segment_tally (org_id, segment_id, step) SELECT $1, $2, 1 FROM generate_series(1, $3)`,
			s.org, segment, n)
		return nil
	})
}
