package comparisons_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

const day = 24 * time.Hour

func TestLosersAreStoppedOnceADifferenceIsShown(t *testing.T) {
	t.Parallel()
	o := open(t)
	type arm struct{ n, replied int }
	all := map[string]struct {
		auto bool
		age  time.Duration
		arms map[string]arm
		want string
		id   id.ID
	}{
		"a difference": {true, day, map[string]arm{"a": {300, 60}, "b": {300, 10}}, "b", id.New()},
		"of three":     {true, day, map[string]arm{"a": {200, 9}, "b": {200, 40}, "c": {200, 5}}, "a c", id.New()},
		"none":         {true, day, map[string]arm{"a": {300, 30}, "b": {300, 33}}, "next", id.New()},
		"too few":      {true, day, map[string]arm{"a": {199, 60}, "b": {400, 10}}, "next", id.New()},
		"too young":    {true, day - time.Minute, map[string]arm{"a": {300, 60}, "b": {300, 10}}, "next", id.New()},
		"not sent":     {true, day, map[string]arm{"a": {300, 60}, "b": {}}, "next", id.New()},
		"not asked":    {false, day, map[string]arm{"a": {300, 60}, "b": {300, 10}}, "", id.New()},
	}
	for _, c := range all {
		var keys []string
		for key, a := range c.arms {
			keys = append(keys, key)
			o.sent(c.id, key, a.n, a.replied, c.age)
		}
		slices.Sort(keys)
		o.activated(c.id, 1, step(c.auto, keys...))
	}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	for name, c := range all {
		if got := o.stopped(c.id); c.auto && got != "next" {
			t.Errorf("%s: %q before the first check is due", name, got)
		}
	}
	o.due()
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	for name, c := range all {
		if !c.auto {
			if o.one(`SELECT count(*) FROM variant_comparison WHERE sequence_id = $1`, c.id) != "0" {
				t.Errorf("%s: it is compared", name)
			}
			continue
		}
		if got := o.stopped(c.id); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAVariantThatIsAddedIsComparedWithTheOneThatIsLeft(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := id.New()
	o.activated(sequence, 1, step(true, "a", "b"))
	o.sent(sequence, "a", 300, 60, day)
	o.sent(sequence, "b", 300, 10, day)
	o.due()
	if err := o.check(); err != nil || o.stopped(sequence) != "b" {
		t.Fatal(o.stopped(sequence), err)
	}
	o.activated(sequence, 2, step(true, "a", "b", "c"))
	o.due()
	if err := o.check(); err != nil || o.stopped(sequence) != "b next" {
		t.Fatal(o.stopped(sequence), err)
	}
	o.sent(sequence, "c", 300, 150, 2*day)
	o.due()
	if err := o.check(); err != nil || o.stopped(sequence) != "a b" {
		t.Fatal(o.stopped(sequence), err)
	}
	o.activated(sequence, 3, step(false, "a", "b", "c"))
	o.due()
	if err := o.check(); err != nil || o.stopped(sequence) != "a b" {
		t.Error(o.stopped(sequence), err)
	}
}

func TestAnArchivedSequenceIsNotCompared(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := id.New()
	o.activated(sequence, 1, step(true, "a", "b"))
	o.sent(sequence, "a", 300, 60, day)
	o.sent(sequence, "b", 300, 10, day)
	o.exec(`UPDATE sequence SET status = 'archived'`)
	o.due()
	waiting := func() (n int) {
		all, err := comparisons.Waiting(t.Context(), o.System, "key")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if waiting() != 1 {
		t.Error("the org is not found")
	}
	if err := o.check(); err != nil || o.stopped(sequence) != "" || waiting() != 0 {
		t.Error(o.stopped(sequence), err)
	}
}

// TestOfManyChecksAtTheSameTimeOneDecides races checks while replies come in that would turn the decision: never are
// both variants stopped. An interrupted check leaves nothing.
func TestOfManyChecksAtTheSameTimeOneDecides(t *testing.T) {
	t.Parallel()
	o := open(t)
	interrupted := errors.New("killed")
	for round := range 6 {
		sequence := id.New()
		o.activated(sequence, 1, step(true, "a", "b"))
		o.sent(sequence, "a", 200, 60, day)
		o.sent(sequence, "b", 200, 10, day)
		o.due()
		if err := o.tx(func(tx *postgres.Tx) error {
			if err := comparisons.Check(t.Context(), tx); err != nil {
				return err
			}
			return interrupted
		}); !errors.Is(err, interrupted) || o.stopped(sequence) != "" {
			t.Fatal(o.stopped(sequence), err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := o.check(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			o.exec(`UPDATE email e SET replied_at = now() FROM enrolment n WHERE n.sequence_id = $1
				AND n.id = e.enrolment_id AND e.variant = 'b'`, sequence)
		})
		all.Wait()
		if got := o.stopped(sequence); got != "a" && got != "b" {
			t.Fatalf("round %d: %q", round, got)
		}
	}
}

func TestStopsAreShownOnlyWhereTheStepAsksForThem(t *testing.T) {
	t.Parallel()
	o := open(t)
	sequence := id.New()
	o.activated(sequence, 1, step(true, "a", "b"))
	o.exec(`UPDATE variant_comparison SET stopped = '{"b": "2026-01-02T03:04:05.000000Z"}'`)
	var stops comparisons.Stops
	if err := o.tx(func(tx *postgres.Tx) error {
		all, err := comparisons.Read(t.Context(), tx, sequence, id.New())
		stops = all[sequence]
		return err
	}); err != nil {
		t.Fatal(err)
	}
	list := []steps.Step{step(true, "a", "b"), step(false, "a", "b"), {Key: "hello", Kind: steps.KindWait}}
	shown := stops.Shown(list)
	if at := shown[0].Email.Variants[1].StoppedAt; at == nil || at.String() != "2026-01-02T03:04:05.000000Z" {
		t.Errorf("b was stopped at %v", at)
	}
	first, plain, given := shown[0].Email.Variants[:1], shown[1].Email.Variants, list[0].Email.Variants
	for i, all := range [][]steps.Variant{first, plain, given} {
		for _, v := range all {
			if v.StoppedAt != nil {
				t.Errorf("%d: %s was stopped", i, v.Key)
			}
		}
	}
	if none := comparisons.Stops(nil).Shown(list); none[0].Email.Variants[1].StoppedAt != nil || len(none) != 3 {
		t.Errorf("without stops: %+v", none)
	}
}
