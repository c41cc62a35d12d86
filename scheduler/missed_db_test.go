package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/scheduler"
)

// A day of ticks every ten minutes; the scheduler is down for the last three hours.
func TestASchedulerThatWasAwayFollowsEachEntrysPolicy(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	const every = 10 * time.Minute
	latest := time.Now().UTC().Truncate(every)
	policies := map[string]scheduler.Missed{"one": scheduler.One, "skip": scheduler.Skip, "all": scheduler.All}
	var entries []scheduler.Entry
	for name, policy := range policies {
		e := entry(name, every)
		e.Missed = policy
		entries = append(entries, e)
		// The latest tick is on time for a minute, so every policy would make it.
		if _, err := sql.Exec(t.Context(), "INSERT INTO tick (entry, tick) VALUES ($1, $2), ($1, $3)", name,
			latest.Add(-18*every), latest.Add(-19*every)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 2)
	for range 2 {
		s := scheduler.New(scheduler.Options{System: db.System, Entries: entries, Log: testkit.Log(t)})
		go func() { over <- s.Run(ctx) }()
	}
	jobs := func(name string) int {
		return count(t, db.URL, "SELECT count(*) FROM job WHERE dedupe_key LIKE '"+name+"@%'")
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(5 * time.Minute); (jobs("all") < 18 || jobs("one") < 1) && time.Now().Before(end); {
		<-look.C
	}
	cancel()
	for range 2 {
		if err := <-over; err != nil {
			t.Fatal(err)
		}
	}
	onTime := 0
	if time.Since(latest) < 2*time.Minute || time.Until(latest.Add(every)) < time.Minute { // the run was too slow
		onTime = 1
	}
	if n := jobs("all"); n < 18 || n > 18+onTime {
		t.Errorf("all: %d jobs, want 18", n)
	}
	if n := jobs("one"); n < 1 || n > 1+onTime {
		t.Errorf("one: %d jobs, want 1", n)
	}
	if n := jobs("skip"); n > onTime {
		t.Errorf("skip: %d jobs, want none", n)
	}

	lines, err := scheduler.List(t.Context(), db.System, append(entries, entry("never", time.Hour)), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		_, expected := policies[l.Entry]
		switch {
		case !expected:
			if !l.Last.IsZero() || !l.Made.IsZero() {
				t.Errorf("%+v: it never happened", l)
			}
		case l.Entry != "skip" && l.Last.Before(latest), l.Made.IsZero(), l.Missed != l.Entry, !l.Next.After(latest):
			t.Errorf("%+v", l)
		}
	}
}

// Two schedulers that start together both see a new entry without ticks. The later one fills the gap.
func TestSchedulersThatBeginTogetherLeaveNoTickOut(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	e := entry("new", time.Minute)
	e.Missed = scheduler.All
	s := scheduler.New(scheduler.Options{System: db.System, Entries: []scheduler.Entry{e}, Log: testkit.Log(t)})
	at := time.Now().Add(-time.Hour).Truncate(time.Minute)
	for _, later := range []time.Duration{0, 3 * time.Minute, 2 * time.Minute} {
		if last, err := s.CatchUp(t.Context(), e, time.Time{}, at.Add(later)); err != nil ||
			last.Before(at.Add(later)) {
			t.Errorf("%s later: %s, %v", later, last, err)
		}
	}
	if n := count(t, db.URL, "SELECT count(*) FROM tick"); n != 4 {
		t.Errorf("%d ticks happened, want 4", n)
	}
}
