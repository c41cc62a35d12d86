package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/scheduler"
)

type none struct{}

var kind = queue.Define[none]("test.tick", queue.Options{})

func entry(name string, every time.Duration) scheduler.Entry {
	return scheduler.Entry{
		Name: name, Every: every,
		Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
			return kind.Add(ctx, tx, none{}, dedupe)
		},
	}
}

func count(t *testing.T, url, sql string) (n int) {
	t.Helper()
	if err := testkit.Pgx(t, url).QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestATickOfferedAgainAfterItsJobIsDoneMakesNoSecondJob(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	e := entry("test", time.Hour)
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	s := scheduler.New(scheduler.Options{System: db.System, Entries: []scheduler.Entry{e}, Log: testkit.Log(t)})
	if added, err := s.Offer(t.Context(), e, at); err != nil || !added {
		t.Fatalf("first: %v, %v", added, err)
	}
	if n := count(t, db.URL, "WITH done AS (DELETE FROM job RETURNING 1) SELECT count(*) FROM done"); n != 1 {
		t.Fatalf("%d jobs, want 1", n)
	}
	late := scheduler.New(scheduler.Options{System: db.System, Entries: []scheduler.Entry{e}, Log: testkit.Log(t)})
	if added, err := late.Offer(t.Context(), e, at); err != nil || added {
		t.Errorf("again: %v, %v", added, err)
	}
	if n := count(t, db.URL, "SELECT count(*) FROM job"); n != 0 {
		t.Errorf("%d jobs, want none", n)
	}
}

func TestFiveSchedulersMakeOneJobOfEachTick(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	over := make(chan error, 5)
	for range 5 {
		s := scheduler.New(scheduler.Options{
			System:  db.System,
			Entries: []scheduler.Entry{entry("fast", 20*time.Millisecond)}, Log: testkit.Log(t),
		})
		go func() { over <- s.Run(ctx) }()
	}
	for range 5 {
		if err := <-over; err != nil {
			t.Fatal(err)
		}
	}
	ticks, jobs := count(t, db.URL, "SELECT count(*) FROM tick"), count(t, db.URL, "SELECT count(*) FROM job")
	if ticks < 50 || jobs != ticks {
		t.Errorf("%d ticks, %d jobs; want about 100 of each", ticks, jobs)
	}
}

func TestATickWhoseJobCannotBeWrittenIsOfferedAgain(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	var tries atomic.Int32
	e := entry("test", time.Hour)
	add := e.Add
	e.Add = func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
		if tries.Add(1) == 1 {
			return errors.New("no luck")
		}
		return add(ctx, tx, dedupe)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	s := scheduler.New(scheduler.Options{System: db.System, Entries: []scheduler.Entry{e}, Log: testkit.Log(t)})
	go func() { over <- s.Run(ctx) }()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(5 * time.Minute); count(t, db.URL, "SELECT count(*) FROM job") != 1 && time.Now().
		Before(end); {
		<-look.C
	}
	cancel()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if n := count(t, db.URL, "SELECT count(*) FROM job"); n != 1 || tries.Load() != 2 {
		t.Errorf("%d jobs after %d tries, want 1 after 2", n, tries.Load())
	}
}

func TestAWrongTimetableIsAnError(t *testing.T) {
	t.Parallel()
	for want, entries := range map[string][]scheduler.Entry{
		"is listed twice": {entry("a", time.Hour), entry("a", time.Hour)},
		"has no interval": {entry("a", 0)},
		"has no policy":   {{Name: "a", Every: time.Hour, Missed: 7}},
	} {
		err := scheduler.New(scheduler.Options{Entries: entries, Log: testkit.Log(t)}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Offers the whole timetable to a real database: the added jobs can run.
func TestEveryEntryOfTheTimetableMakesAJob(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	s := scheduler.New(scheduler.Options{System: db.System, Log: testkit.Log(t)})
	for _, e := range scheduler.Timetable() {
		if added, err := s.Offer(t.Context(), e, time.Date(2026, 1, 1, 10, 7, 0, 0, time.UTC)); err != nil || !added {
			t.Errorf("%s: %v, %v", e.Name, added, err)
		}
	}
	if n := count(t, db.URL,
		"SELECT count(*) FROM job WHERE org_id = '00000000-0000-0000-0000-000000000000' AND dedupe_key LIKE "+
			"'%@2026-01-01T10:07:00Z'"); n != len(scheduler.Timetable()) {
		t.Errorf("%d jobs of the platform's own", n)
	}
}
