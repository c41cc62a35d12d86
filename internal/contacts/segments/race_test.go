package segments_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Concurrent edits of the same few contacts, archiving, purging, scoring, batches, builds and runs. A deadlock is an
// error of some transaction and fails the test.
func TestEditsAndRunsAtOnceEndRight(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.pace = segments.Pace{Marks: 30, Changes: 10, Piece: 7, For: 20 * time.Millisecond}
	people := make([]contacts.Row, 12)
	for i := range people {
		people[i] = s.create(person(i, func(p *contacts.Patch) { p.Attributes = some(map[string]any{"size": 1.0}) }))
	}
	var segs []id.ID
	first := dice{rand.New(rand.NewPCG(3, 3))}
	for range 5 {
		segs = append(segs, s.segment("One of five", raw(first.question(2))).ID)
	}
	s.drain()
	var (
		wg   sync.WaitGroup
		busy atomic.Int32
	)
	for seed := range uint64(6) {
		busy.Add(1)
		wg.Go(func() {
			defer busy.Add(-1)
			d := dice{rand.New(rand.NewPCG(seed, 4))}
			for n := range 40 {
				if err := s.try(func(ctx context.Context, tx *postgres.Tx) error {
					return s.random(ctx, tx, d, people, segs, 1000*int(seed)+n)
				}); err != nil && !notThere(err) {
					t.Error(err)
				}
			}
		})
	}
	for busy.Load() > 0 {
		s.sync()
	}
	wg.Wait()
	s.drain()
	s.check()
}

// random executes an edit that may run concurrently. It ignores an object that no longer exists.
func (s *shop) random(ctx context.Context, tx *postgres.Tx, d dice, people []contacts.Row, segs []id.ID, n int) error {
	i := one(d, people).ID
	known := func(err error) error {
		if notThere(err) {
			return nil
		}
		return err
	}
	switch d.IntN(12) {
	case 0:
		_, err := contacts.Archive(ctx, tx, i, nil)
		return known(err)
	case 1:
		_, err := contacts.Restore(ctx, tx, i)
		return known(err)
	case 2:
		if n%7 != 0 { // keep most contacts
			return nil
		}
		return known(contacts.Purge(ctx, tx, i))
	case 3:
		v := float64(d.IntN(50))
		_, err := contacts.Rescore(ctx, tx, []id.ID{i}, func(*contacts.Contact) (float64, events.ContactScore) {
			return v, events.ContactScore{Probability: v / 100, Confidence: "learned", ModelVersion: "test-2"}
		}, func(float64, float64) bool { return false }, nil)
		return known(err)
	case 4:
		rows := make([]contacts.Upsert, 6)
		for j := range rows {
			rows[j].Patch = *person(d.IntN(len(people)))
			d.edit(&rows[j].Patch)
		}
		_, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
		return err
	case 5:
		p := person(n + 100)
		d.edit(p)
		_, err := contacts.Create(tx, p, rate)
		return err
	case 6:
		_, err := segments.Update(ctx, tx, one(d, segs), allow,
			segments.Patch{Filter: some([]byte(raw(d.question(2))))})
		return err
	default:
		var p contacts.Patch
		d.edit(&p)
		_, err := contacts.Update(ctx, tx, i, nil, &p, rate)
		return known(err)
	}
}

func TestAHundredChangesAtOnceAreEachToldOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	people := make([]contacts.Row, 100)
	for i := range people {
		people[i] = s.create(person(i))
	}
	s.segment("Customers", customers)
	s.drain()
	var wg sync.WaitGroup
	for _, c := range people {
		wg.Go(func() {
			if err := s.try(func(ctx context.Context, tx *postgres.Tx) error {
				_, err := contacts.Update(ctx, tx, c.ID, nil, &contacts.Patch{Stage: some("customer")}, rate)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.drain()
	s.check()
	if n := len(s.told()); n != 100 {
		t.Errorf("%d events, want 100", n)
	}
}

// A transaction that wrote before the first dynamic segment was created leaves no mark, but its contact is found.
func TestAWriteThatBeganBeforeTheFirstSegmentIsNotMissed(t *testing.T) {
	t.Parallel()
	s := open(t)
	var row contacts.Row
	s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		if row, err = contacts.Create(tx, person(1, stage("customer")), rate); err != nil {
			return err
		}
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		seg := s.segment("Customers", customers)
		for range 3 {
			s.sync()
		}
		if now := s.get(seg.ID); now.Status != segments.Building {
			t.Errorf("it is %s while a writer of before is at work", now.Status)
		}
		return nil
	})
	s.drain()
	s.check()
	if got := s.list("customers", false); len(got) != 1 || got[0] != row.ID {
		t.Errorf("members %v", got)
	}
}

// The server counts the rows that the job's statements read, in the job's transaction and as its role.
func TestNoStatementOfARunReadsAWholeTable(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.crowd(300)
	other := s.beside()
	other.crowd(300)
	var seg segments.Row
	for _, x := range []*shop{other, s} {
		seg = x.segment("Customers",
			`{"all":[`+customers+
				`,{"field":"tag","op":"in","value":["a","b"]},{"field":"attributes.size","op":"gt","value":3}]}`)
		x.drain()
	}
	s.refilter(seg.ID, `{"any":[`+customers+`,{"field":"lead_score","op":"gt","value":10}]}`)
	for _, c := range s.everybody()[:20] {
		s.patch(c.ID, stage("customer"))
	}
	s.archive(s.everybody()[30].ID)
	// With current statistics the tables are small and look cheap to scan.
	if _, err := testkit.Pgx(t, s.URL).Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	// Uses a new session, because a session counts only what it has not reported yet.
	if err := testkit.Open(t, s.URL, postgres.App).Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		ctx := t.Context()
		if err := segments.Sync(ctx, tx, segments.Usual()); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT relname::text FROM pg_stat_xact_user_tables WHERE seq_scan > 0`)
		if err != nil {
			return err
		}
		whole, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if len(whole) > 0 {
			t.Errorf("read as a whole: %v", whole)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.drain()
	s.check()
}

// crowd creates n contacts.
func (s *shop) crowd(n int) {
	s.t.Helper()
	d := dice{rand.New(rand.NewPCG(1, 9))}
	rows := make([]contacts.Upsert, n)
	for i := range rows {
		rows[i].Patch = *person(i)
		for range 3 {
			d.edit(&rows[i].Patch)
		}
		rows[i].Attributes = some(map[string]any{"size": float64(d.IntN(10))})
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
		return err
	})
}

// Locks beyond a run's first contacts are out of the order of ids, so the run must not wait for them: the holder may be
// waiting for the run.
func TestARunThatHoldsContactsWaitsForNoOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	held, marked := s.create(person(1)), s.create(person(2))
	seg := s.segment("By stage", customers)
	s.drain()
	s.refilter(seg.ID, `{"field":"stage","op":"eq","value":"lead"}`)
	s.patch(marked.ID, func(p *contacts.Patch) { p.Phone = some("1") })
	other := testkit.Pgx(t, s.URL)
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM contact_score WHERE contact_id = $1 FOR UPDATE",
		held.ID); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.App.Tx(ctx, s.org, func(tx *postgres.Tx) error { return segments.Sync(ctx, tx, s.pace) }); err != nil {
		t.Fatalf("beside somebody who holds a contact: %v", err)
	}
	if in := s.members(seg.ID, false); len(in) != 1 || in[marked.ID] == "" {
		t.Errorf("members are %v, want the one that has a mark", in)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain()
	if in := s.members(seg.ID, false); len(in) != 2 {
		t.Errorf("members are %v, want both", in)
	}
	s.check()
}
