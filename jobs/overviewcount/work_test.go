package overviewcount_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/overviewcount"
)

// shop is one org in a database of its own.
type shop struct {
	*testing.T
	*testkit.Database
	org id.ID
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, Database: testkit.DB(t), org: id.New()}
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

// create inserts a contact with its event, as a request does.
func (s *shop) create(ctx context.Context, tx *postgres.Tx, n int) error {
	c := events.Contact{
		ID: id.New(), Email: fmt.Sprintf("p%d@acme.example", n), Stage: "lead", Tag: []string{}, Segment: []string{},
		Attributes: map[string]any{}, CreatedAt: wire.Now(), UpdatedAt: wire.Now(),
		Score: events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"},
	}
	tx.Queue(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, $3, $3, 'A', 'L', 'l', 'lead', $4, $4)`,
		s.org, c.ID, c.Email, c.CreatedAt)
	return events.Announce(ctx, tx, events.ContactCreated{Contact: c})
}

// created returns the transaction of create.
func (s *shop) created(n int) func(context.Context, *postgres.Tx) error {
	return func(ctx context.Context, tx *postgres.Tx) error { return s.create(ctx, tx, n) }
}

func (s *shop) refresh() {
	s.Helper()
	if err := overview.Refresh(s.Context(), s.App, s.org); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) total() (n int) {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT coalesce(sum(contacts), 0) FROM day_count WHERE org_id = $1`, []any{s.org}, &n)
	})
	return n
}

// due reports whether a look at the org, whose time has come, finds something to count.
func (s *shop) due() bool {
	s.Helper()
	s.exec(`UPDATE overview_state SET look_at = now() WHERE org_id = $1`)
	return s.found()
}

func (s *shop) exec(sql string) {
	s.Helper()
	s.tx(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(sql, s.org)
		return nil
	})
}

// found reports whether the org is among those that are looked at now and have something to count.
func (s *shop) found() bool {
	s.Helper()
	all, err := overview.Due(s.Context(), s.System, overviewcount.Key)
	if err != nil {
		s.Fatal(err)
	}
	for _, o := range all {
		if o == s.org {
			return true
		}
	}
	return false
}

// settled waits until no open transaction of any database holds back the events of the org.
func (s *shop) settled() {
	s.Helper()
	for held := 1; held > 0; {
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM event WHERE org_id = $1 AND seq >= event_horizon()`,
				[]any{s.org}, &held)
		})
	}
}

func (s *shop) work() {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM job WHERE kind = 'overview.count'`)
		if err := (overviewcount.Job{}).Work(ctx, tx, nil); err != nil {
			return err
		}
		tx.Queue(`UPDATE overview_state SET rest_until = '-infinity', read_at = now() WHERE org_id = $1`, s.org)
		return nil
	})
}

func TestAnOrgIsCountedOnceForItsNewEvents(t *testing.T) {
	t.Parallel()
	s := open(t)
	if s.due() {
		t.Error("a new org is due")
	}
	s.work()
	if s.due() {
		t.Error("an org without news is due")
	}
	for n := range 3 {
		s.tx(func(ctx context.Context, tx *postgres.Tx) error { return s.create(ctx, tx, n) })
	}
	s.settled()
	if !s.due() {
		t.Error("an org with three events is not due")
	}
	jobs := func() (n int) {
		s.Helper()
		s.exec(`UPDATE overview_state SET look_at = now() WHERE org_id = $1`)
		if err := overviewcount.Watch(s.App, s.System)(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM job WHERE kind = 'overview.count'`, nil, &n)
		})
		return n
	}
	if diff := cmp.Diff([]int{1, 1}, []int{jobs(), jobs()}); diff != "" {
		t.Errorf("jobs after one look and after two (-want +got):\n%s", diff)
	}
	s.work()
	if n := s.total(); n != 3 {
		t.Errorf("%d contacts counted, want 3", n)
	}
	if s.due() {
		t.Error("the org is due after its count")
	}
}

// A kill rolls the transaction back, so the run after it meets the same events.
func TestACountThatIsLostIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.work()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return s.create(ctx, tx, 1) })
	lost := fmt.Errorf("killed")
	err := s.App.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		if err := (overviewcount.Job{}).Work(t.Context(), tx, nil); err != nil {
			return err
		}
		return lost
	})
	if err == nil {
		t.Fatal("the transaction was committed")
	}
	if n := s.total(); n != 0 {
		t.Errorf("%d contacts counted by a run that was lost", n)
	}
	s.settled()
	s.work()
	s.work()
	if n := s.total(); n != 1 {
		t.Errorf("%d contacts counted, want 1", n)
	}
}

// An event of a transaction that is still open has a place in the feed that a count must not pass.
func TestAnEventThatCommitsLateIsCounted(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.work()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		if err := s.create(ctx, tx, 1); err != nil {
			return err
		}
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		s.tx(func(ctx context.Context, tx *postgres.Tx) error { return s.create(ctx, tx, 2) })
		s.work()
		return nil
	})
	if !s.due() {
		t.Error("an org is not due after an open transaction has been committed")
	}
	s.settled()
	s.work()
	if n := s.total(); n != 2 {
		t.Errorf("%d contacts counted, want 2", n)
	}
}

func TestAnOverviewThatIsNotReadIsCountedOnceAMinute(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.exec(`UPDATE overview_state SET read_at = now() - interval '11 minutes' WHERE org_id = $1`)
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return (overviewcount.Job{}).Work(ctx, tx, nil) })
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return s.create(ctx, tx, 1) })
	s.settled()
	if !s.is(`look_at >= counted_at + interval '1 minute'`) {
		t.Error("an org is counted again at once although its overview is not read")
	}
	if !s.due() {
		t.Error("an org is not counted after a minute")
	}
	if !s.is(`look_at > now() AND look_at <= now() + interval '1 minute'`) {
		t.Error("a job that vanishes delays the count by more than a minute, or the org is found again at once")
	}
	if err := overview.Refresh(t.Context(), s.App, s.org); err != nil {
		t.Fatal(err)
	}
	if n := s.total(); n != 1 {
		t.Errorf("the first reader sees %d contacts, want 1", n)
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return s.create(ctx, tx, 2) })
	if err := overview.Refresh(t.Context(), s.App, s.org); err != nil {
		t.Fatal(err)
	}
	if n := s.total(); n != 1 {
		t.Errorf("the second reader counts, too: %d contacts", n)
	}
}

func TestAReadWaitsForNoCount(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.tx(func(_ context.Context, tx *postgres.Tx) error {
		if err := overview.Count(ctx, tx); err != nil { // it holds the state until tx ends
			return err
		}
		return overview.Refresh(ctx, s.App, s.org)
	})
	if s.read() {
		t.Error("a read changed the state that a count held")
	}
	if err := overview.Refresh(ctx, s.App, s.org); err != nil {
		t.Error(err)
	}
	if !s.read() {
		t.Error("a read after the count is not recorded")
	}
}

// read reports whether a read of the overview is recorded.
func (s *shop) read() bool { return s.is(`read_at > '-infinity'`) }

// is reports whether a condition of the org's state is true.
func (s *shop) is(condition string) (yes bool) {
	s.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT `+condition+` FROM overview_state WHERE org_id = $1`, []any{s.org}, &yes)
	})
	return yes
}

func TestAnOverviewThatIsReadIsCountedByTheJobAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.work()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		tx.Queue(`UPDATE overview_state SET read_at = now() - interval '2 minutes' WHERE org_id = $1`, s.org)
		return s.create(ctx, tx, 1)
	})
	s.settled()
	if err := overview.Refresh(t.Context(), s.App, s.org); err != nil {
		t.Fatal(err)
	}
	if n := s.total(); n != 0 {
		t.Errorf("a read counts %d contacts beside the job", n)
	}
	if !s.due() {
		t.Error("the job does not count an overview that is read")
	}
}
