package enrolments_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/suppression"
)

// sync does the work of the job that keeps segments current.
func (o *office) sync() {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return segments.Sync(ctx, tx, segments.Usual()) })
}

// customers creates the segment of the customers.
func (o *office) customers() (segment id.ID) {
	o.Helper()
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		row, err := segments.Create(ctx, tx,
			segments.New{Name: "Customers", Filter: []byte(`{"field":"stage","op":"eq","value":"customer"}`)})
		segment = row.ID
		return err
	})
	for o.one(`SELECT status FROM segment WHERE id = $1`, segment) != segments.Ready {
		o.sync()
	}
	return segment
}

// stage changes the stage of contacts, and the segments with it.
func (o *office) stage(stage string, all ...id.ID) {
	o.Helper()
	o.exec(`UPDATE contact SET stage = $1 WHERE id = ANY ($2)`, stage, all)
	o.sync()
}

// entering returns a sequence that enrols the contacts that enter a segment.
func (o *office) entering(segment id.ID, change func(*sequences.Settings)) id.ID {
	o.Helper()
	i := o.sequence(change, mail("first", 0))
	o.exec(`UPDATE sequence SET enroll_segment = $1 WHERE id = $2`, segment, i)
	return i
}

func (o *office) enter() error {
	return o.tx(func(ctx context.Context, tx *postgres.Tx) error { return o.enrol.Enter(ctx, tx, true) })
}

func (o *office) entries() string {
	o.Helper()
	return o.one(`SELECT count(*) FROM segment_entry`)
}

func TestAContactThatEntersTheSegmentOfASequenceIsEnrolledOnce(t *testing.T) {
	t.Parallel()
	o := open(t)
	member, ada := o.person("member@example.com"), o.person("ada@example.com")
	o.exec(`UPDATE contact SET stage = 'customer' WHERE id = $1`, member)
	segment := o.customers()
	seq := o.entering(segment, nil)
	if o.stage("customer", ada); o.entries() != "1" {
		t.Fatalf("%s entries", o.entries())
	}
	killed := errors.New("killed")
	if err := o.tx(func(ctx context.Context, tx *postgres.Tx) error {
		if err := o.enrol.Enter(ctx, tx, true); err != nil {
			return err
		}
		return killed
	}); !errors.Is(err, killed) || o.entries() != "1" || o.announced() != "" {
		t.Fatalf("after a kill: %v, %s entries, announced %q", err, o.entries(), o.announced())
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := o.enter(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	const made = `SELECT string_agg(contact_id || ' ' || created_by, ', ') FROM enrolment`
	if got := o.one(made); got != ada.String()+" segment/"+segment.String() {
		t.Errorf("enrolled %s", got)
	}
	if o.entries() != "0" || o.announced() != "enrolled" {
		t.Errorf("%s entries are left, announced %q", o.entries(), o.announced())
	}
	e, err := id.Parse(o.one(`SELECT id FROM enrolment`))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.history(e); got != ">active first segment/"+segment.String() {
		t.Errorf("the history is %s", got)
	}
	// Each entry counts once: it is already open, then finished before, and then enrolled again.
	again := func() string {
		o.stage("lead", ada)
		if o.stage("customer", ada); o.entries() != "1" {
			t.Fatalf("%s entries", o.entries())
		}
		if err := o.enter(); err != nil {
			t.Fatal(err)
		}
		return o.entries() + " " + o.one(`SELECT count(*) FROM enrolment`)
	}
	if got := again(); got != "0 1" {
		t.Errorf("while it is open: %s", got)
	}
	o.exec(`UPDATE enrolment SET state = 'finished', due_at = NULL, ended_at = now()`)
	if got := again(); got != "0 1" {
		t.Errorf("after it has ended: %s", got)
	}
	o.exec(`UPDATE sequence_version SET settings = jsonb_set(settings::jsonb, '{allow_reenroll}', 'true')
		WHERE sequence_id = $1`, seq)
	if got := again(); got != "0 2" {
		t.Errorf("where that is allowed: %s", got)
	}
}

func TestAnEntryIsHeldToTheRulesOfEnrolling(t *testing.T) {
	t.Parallel()
	o := open(t)
	segment := o.customers()
	first, second := o.entering(segment, nil), o.entering(segment, nil)
	others := o.entering(segment, notExclusive)
	draft := o.sequence(nil, mail("first", 0)) // its active version enrols from no segment
	ada, eve, bob := o.person("ada@example.com"), o.person("eve@example.com"), o.person("bob@example.com")
	o.must(func(ctx context.Context, tx *postgres.Tx) error {
		_, _, err := o.emails.Suppressions.Add(ctx, tx, suppression.New{
			Email: "eve@example.com", Purpose: suppression.All, Reason: suppression.Manual,
		})
		return err
	})
	o.stage("customer", ada, eve)
	if err := o.enter(); err != nil || o.entries() != "0" {
		t.Fatal(err, o.entries())
	}
	in := func(sequence, contact id.ID) string {
		return o.one(`SELECT string_agg(state, ' ') FROM enrolment WHERE sequence_id = $1 AND contact_id = $2`,
			sequence, contact)
	}
	if in(first, ada) != "active" || in(second, ada) != "" || in(others, ada) != "active" || in(draft, ada) != "" {
		t.Errorf("ada: %q %q %q %q", in(first, ada), in(second, ada), in(others, ada), in(draft, ada))
	}
	if in(first, eve) != "" || in(others, eve) != "" {
		t.Errorf("eve is suppressed: %q %q", in(first, eve), in(others, eve))
	}
	o.exec(`UPDATE sequence SET status = 'paused' WHERE id = $1`, first)
	o.stage("customer", bob)
	o.exec(`UPDATE sequence SET status = 'archived' WHERE id = $1`, others)
	if err := o.enter(); err != nil || o.entries() != "0" {
		t.Fatal(err, o.entries())
	}
	if in(first, bob) != "pending" || in(others, bob) != "" {
		t.Errorf("bob: %q %q", in(first, bob), in(others, bob))
	}
}

func TestAnEntryWaitsForAMailboxAndIsDroppedWithoutThePlan(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.entering(o.customers(), nil)
	ada, eve := o.person("ada@example.com"), o.person("eve@example.com")
	o.exec(`UPDATE mailbox SET archived_at = now()`)
	o.stage("customer", ada)
	waiting := func() int {
		all, err := enrolments.Entered(t.Context(), o.System, "key")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if waiting() != 1 {
		t.Error("the org is not found")
	}
	if err := o.enter(); err != nil || o.entries() != "1" || waiting() != 0 {
		t.Fatalf("without a mailbox: %v, %s entries, %d orgs", err, o.entries(), waiting())
	}
	o.exec(`UPDATE mailbox SET archived_at = NULL`)
	o.exec(`UPDATE segment_entry SET due_at = now()`)
	if err := o.enter(); err != nil || o.entries() != "0" || o.one(`SELECT count(*) FROM enrolment`) != "1" {
		t.Fatalf("with a mailbox: %v, %s entries", err, o.entries())
	}
	o.stage("customer", eve)
	o.must(func(ctx context.Context, tx *postgres.Tx) error { return o.enrol.Enter(ctx, tx, false) })
	if o.entries() != "0" || o.one(`SELECT count(*) FROM enrolment`) != "1" {
		t.Errorf("without the plan: %s entries", o.entries())
	}
}

// TestEveryEntryIsTakenOnceWhileContactsEnterAndAreEnrolledByHand lets jobs and requests enrol the same contacts while
// they enter the segment.
func TestEveryEntryIsTakenOnceWhileContactsEnterAndAreEnrolledByHand(t *testing.T) {
	t.Parallel()
	o := open(t)
	seq := o.entering(o.customers(), nil)
	people := o.people(120)
	var all sync.WaitGroup
	over := make(chan struct{})
	all.Go(func() {
		defer close(over)
		for n := 0; n < len(people); n += 20 {
			o.stage("customer", people[n:n+20]...)
		}
	})
	for range 2 {
		all.Go(func() {
			for {
				if err := o.enter(); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	all.Go(func() {
		for _, contact := range people[:40] {
			o.put(seq, contact)
		}
	})
	all.Wait()
	if err := o.enter(); err != nil || o.entries() != "0" {
		t.Fatal(err, o.entries())
	}
	if got := o.one(`SELECT count(*) || ' ' || count(DISTINCT contact_id) FROM enrolment`); got != "120 120" {
		t.Errorf("enrolled %s", got)
	}
	if got := o.one(`SELECT count(*) FROM event WHERE type = 'sequence.enrolled'`); got != "120" {
		t.Errorf("%s events", got)
	}
	if got := o.one(`SELECT count(*) FROM event WHERE type = 'segment.entered'`); got != "120" {
		t.Errorf("%s entries were announced", got)
	}
}
