package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// leased is a job that a run holds, and the table around it.
type leased struct {
	*testing.T
	sql      *pgx.Conn
	store    *store.Store
	org, job id.ID
}

// newLeased adds a job whose wake_at is next and claims it.
func newLeased(t *testing.T, next string) *leased {
	t.Helper()
	db := testkit.DB(t)
	l := &leased{T: t, sql: testkit.Pgx(t, db.URL), store: store.New(db.App, db.System), org: id.New(), job: id.New()}
	l.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
		VALUES ($1, $2, 'test.a', '{}', 'default', 3, now() + $3::interval)`, l.org, l.job, next)
	if _, err := l.store.Claim(t.Context(), l.org, l.job); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *leased) exec(sql string, args ...any) {
	l.Helper()
	if _, err := l.sql.Exec(l.Context(), sql, args...); err != nil {
		l.Fatal(err)
	}
}

// row is what the relay goes by, in seconds from now; nil for NULL.
type row struct {
	Owned       bool
	Wake, Lease *int
}

func (l *leased) row() (r row) {
	l.Helper()
	if err := l.sql.QueryRow(l.Context(), `SELECT owner IS NOT NULL,
		round(extract(epoch FROM wake_at - now()) / 5)::int * 5,
		round(extract(epoch FROM lease_until - now()) / 5)::int * 5 FROM job`).
		Scan(&r.Owned, &r.Wake, &r.Lease); err != nil {
		l.Fatal(err)
	}
	return r
}

// scan is the relay's scan for lost runs. It returns how many it found.
func (l *leased) scan() int {
	l.Helper()
	found, err := l.store.Reap(l.Context(), 10, time.Time{})
	if err != nil {
		l.Fatal(err)
	}
	return len(found.Refs)
}

func TestAClaimWritesNothingThatAnIndexCovers(t *testing.T) {
	t.Parallel()
	l := newLeased(t, "3 seconds")
	three, twenty := 5, 20 // rounded
	if diff := cmp.Diff(row{true, &three, &twenty}, l.row()); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	if err := l.store.App.ReadTx(t.Context(), l.org, func(tx *postgres.Tx) error {
		tx.Queue("SELECT pg_stat_force_next_flush()")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	updated, hot := 0, 0
	for end := time.Now().Add(5 * time.Minute); updated == 0 && time.Now().Before(end); <-time.After(time.Millisecond) {
		if err := l.sql.QueryRow(t.Context(), "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE "+
			"relname = 'job'").Scan(&updated, &hot); err != nil {
			t.Fatal(err)
		}
	}
	if updated != 1 || hot != 1 {
		t.Errorf("%d updates, %d of them HOT, want 1 and 1", updated, hot)
	}
}

func TestTheRelayLeavesARunThatGoesOnAndTakesOneWhoseLeaseHasEnded(t *testing.T) {
	t.Parallel()
	l := newLeased(t, "-1 second")
	twenty, five := 20, 5
	if n := l.scan(); n != 0 {
		t.Errorf("%d runs were taken for lost, want none", n)
	}
	if diff := cmp.Diff(row{true, &twenty, &twenty}, l.row()); diff != "" {
		t.Errorf("moved to the end of the lease (-want +got):\n%s", diff)
	}
	l.exec("UPDATE job SET wake_at = now() - interval '1 second', lease_until = now() - interval '1 millisecond'")
	if n := l.scan(); n != 1 {
		t.Errorf("%d runs were taken for lost, want 1", n)
	}
	if diff := cmp.Diff(row{false, &five, nil}, l.row()); diff != "" {
		t.Errorf("free (-want +got):\n%s", diff)
	}
}

// The row is moved before a relay that knows wake_at alone looks at it, and a claim of such a version ends by wake_at.
func TestLeasesHoldBesideAVersionThatKnowsWakeAtAlone(t *testing.T) {
	t.Parallel()
	l := newLeased(t, "1 second")
	if n := l.scan(); n != 0 {
		t.Errorf("%d runs were taken for lost, want none", n)
	}
	twenty := 20
	if diff := cmp.Diff(row{true, &twenty, &twenty}, l.row()); diff != "" {
		t.Errorf("moved ahead of its time (-want +got):\n%s", diff)
	}
	l.exec("UPDATE job SET owner = gen_random_uuid(), wake_at = now() + interval '20 seconds', lease_until = now() - " +
		"interval '1 hour'")
	if _, err := l.store.Claim(t.Context(), l.org, l.job); !errors.Is(err, store.ErrMissed) {
		t.Errorf("claim beside a run of the version before: %v, want %v", err, store.ErrMissed)
	}
	if n := l.scan(); n != 0 {
		t.Errorf("%d runs of the version before were taken for lost, want none", n)
	}
	l.exec("UPDATE job SET wake_at = now(), lease_until = NULL")
	if n := l.scan(); n != 1 {
		t.Errorf("%d runs of the version before were taken for lost, want 1", n)
	}
}

// The relay's transaction holds the row when the extension begins, and has moved it when the extension gets the lock.
func TestAnExtensionThatWaitsForTheRelaysMoveOfItsRowHoldsItsLease(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn := testkit.Pgx(t, db.URL)
	s, org, job := store.New(db.App, db.System), id.New(), id.New()
	if _, err := conn.Exec(t.Context(), `INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
		VALUES ($1, $2, 'test.a', '{}', 'default', 3, now())`, org, job); err != nil {
		t.Fatal(err)
	}
	c, err := s.Claim(t.Context(), org, job)
	if err != nil {
		t.Fatal(err)
	}
	move, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := move.Exec(t.Context(), "UPDATE job SET wake_at = lease_until"); err != nil {
		t.Fatal(err)
	}
	type result struct {
		held map[id.ID]bool
		err  error
	}
	done := make(chan result, 1)
	go func() {
		held, err := s.Extend(context.WithoutCancel(t.Context()), []*queue.Claimed{c})
		done <- result{held, err}
	}()
	watch := testkit.Pgx(t, db.URL)
	for waits, end := 0, time.Now().Add(5*time.Minute); waits == 0; <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the extension does not wait for the row")
		}
		if err := watch.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "+
			"AND datname = current_database()").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if err := move.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.err != nil || !r.held[c.Owner()] {
		t.Errorf("held: %v, %v; want the run to hold its job", r.held, r.err)
	}
	gone := *c
	other := id.New()
	gone.Fence = &other
	if held, err := s.Extend(t.Context(), []*queue.Claimed{&gone}); err != nil || held[other] {
		t.Errorf("a run of another owner: %v, %v; want it lost", held, err)
	}
}
