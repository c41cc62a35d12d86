package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/scheduler"
)

// Postgres's clock is an hour ahead, or behind, for a few ticks and then right again.
func TestTheScheduleGoesOnWhenTheClockOfPostgresIsSet(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, set := testkit.PostgresWithClock(t)
			system := testkit.Open(t, server.URL, postgres.System)
			e := entry("often", time.Second)
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error, 2)
			for range 2 {
				s := scheduler.New(scheduler.Options{
					System: system, Entries: []scheduler.Entry{e}, Log: testkit.Log(t),
				})
				go func() { over <- s.Run(ctx) }()
			}
			defer func() {
				cancel()
				for range 2 {
					if err := <-over; err != nil {
						t.Error(err)
					}
				}
			}()
			all := 0
			for _, ahead := range []time.Duration{0, by, 0} {
				set(ahead)
				all = awaitTicks(t, server.URL, 3)
			}
			if all > 60 {
				t.Errorf("%d ticks of a second have happened", all)
			}
			if n := count(t, server.URL, "SELECT count(*) FROM tick WHERE tick > now() + interval '1 minute'"); n > 0 {
				t.Errorf("%d ticks of the future will be missing when their time comes", n)
			}
		})
	}
}

// awaitTicks waits for n more ticks of the last seconds, and returns how many there are.
func awaitTicks(t *testing.T, url string, n int) (all int) {
	t.Helper()
	const recent = "SELECT count(*) FROM tick WHERE tick BETWEEN now() - interval '20 seconds' AND now()"
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	want := min(count(t, url, recent), 15) + n
	for end := time.Now().Add(5 * time.Minute); count(t, url, recent) < want; <-look.C {
		if time.Now().After(end) {
			t.Fatalf("%d ticks of the last seconds, want %d", count(t, url, recent), want)
		}
	}
	return count(t, url, "SELECT count(*) FROM tick")
}

// A clock that was ahead for an hour has made ticks of an hour.
func TestTicksThatAClockAheadHasMadeHappenAgainWhenTheirTimeComes(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	e := entry("often", time.Second)
	at := time.Now().UTC().Truncate(time.Second)
	sql := testkit.Pgx(t, db.URL)
	if _, err := sql.Exec(t.Context(), `INSERT INTO tick (entry, tick, made_at)
		SELECT 'often', $1::timestamptz + n * interval '1 second', now() FROM generate_series(-10, 3600) n`,
		at); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	s := scheduler.New(scheduler.Options{System: db.System, Entries: []scheduler.Entry{e}, Log: testkit.Log(t)})
	go func() { over <- s.Run(ctx) }()
	const future = "SELECT count(*) FROM tick WHERE tick > now() + interval '1 minute'"
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(5 * time.Minute); count(t, db.URL, future) > 0 && time.Now().Before(end); {
		<-look.C
	}
	cancel()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if n := count(t, db.URL, future); n > 0 {
		t.Errorf("%d ticks of the future are left", n)
	}
}
