package contactindex_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/contactindex"
	"github.com/funnelwork/funnelwork/jobs/contactindexsweep"
)

// shop is one org in a database of its own.
type shop struct {
	*testing.T
	*testkit.Database
	org id.ID
	job contactindex.Job
	all contactindexsweep.Job
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, Database: testkit.DB(t), org: id.New()}
	s.job.Pace = wordindex.Pace{Block: 8, Marks: 4, For: time.Hour}
	s.all = contactindexsweep.Job{System: s.System, Pace: s.job.Pace, Large: 10}
	if err := s.System.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, s.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	s.Helper()
	if err := s.App.Tx(s.Context(), s.org, func(tx *postgres.Tx) error { return fn(s.Context(), tx) }); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) create(from, to int) {
	s.Helper()
	for n := from; n < to; n++ {
		s.tx(func(_ context.Context, tx *postgres.Tx) error {
			_, err := contacts.Create(tx, &contacts.Patch{
				Email:     wire.Some(fmt.Sprintf("p%d@acme.example", n)),
				FirstName: wire.Some("Ada"), LastName: wire.Some("Love"),
			}, func(*contacts.Contact) (float64, events.ContactScore) {
				return 10, events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"}
			})
			return err
		})
	}
}

func (s *shop) sweep(orgs bool) {
	s.Helper()
	run := &queue.Run[contactindexsweep.Args]{Args: contactindexsweep.Args{Orgs: orgs}}
	if err := s.all.Work(s.Context(), run); err != nil {
		s.Fatal(err)
	}
}

// look is one look of the watch, and how many jobs there are after it.
func (s *shop) look() (jobs int) {
	s.Helper()
	if err := contactindex.Watch(s.App, s.System)(s.Context()); err != nil {
		s.Fatal(err)
	}
	return s.one(`SELECT count(*) FROM job WHERE kind = 'contact.index'`)
}

func (s *shop) one(sql string) (n int) {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return tx.QueryRow(ctx, sql, nil, &n) })
	return n
}

// work runs the job.
func (s *shop) work() {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM job WHERE kind = 'contact.index'`)
		return s.job.Work(ctx, tx, nil)
	})
}

func TestALargeOrgGetsAnIndexThatJobsKeepCurrent(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.create(0, 9)
	s.sweep(true)
	if n := s.look(); n != 0 {
		t.Errorf("%d jobs for an org of nine contacts", n)
	}
	s.create(9, 10)
	s.sweep(false)
	if n := s.look(); n != 0 {
		t.Errorf("%d jobs before the sweep that counts contacts", n)
	}
	s.sweep(true)
	s.look()
	if n := s.look(); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	for s.one(`SELECT count(*) FROM word_index WHERE ready`) == 0 {
		s.look()
		s.work()
	}
	if n := s.look(); n != 0 {
		t.Errorf("%d jobs when all is done", n)
	}
	s.create(10, 13)
	s.sweep(true)
	if n := s.look(); n != 0 {
		t.Errorf("%d jobs for three marks", n)
	}
	s.create(13, 14)
	s.sweep(false)
	if n := s.look(); n != 1 {
		t.Errorf("%d jobs for four marks, want 1", n)
	}
	s.work()
	if n := s.look(); n != 0 || s.one(`SELECT count(*) FROM word_index_mark`) != 0 {
		t.Errorf("%d jobs, and marks are left", n)
	}
}
