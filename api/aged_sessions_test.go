package api_test

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// stockLocks is how many locks a server with the settings that Postgres comes with has room for, by its documentation
// of max_locks_per_transaction: 64 for each of 100 sessions.
const stockLocks = 64 * 100

// TestAHundredSessionsReadAYearOfDaysWithinTheLocksOfAStockServer sends the reads that a partition of each day serves,
// in a hundred sessions at once.
func TestAHundredSessionsReadAYearOfDaysWithinTheLocksOfAStockServer(t *testing.T) {
	if !*agedYear {
		t.Skip("a database with partitions of a year: give -aged.year, as .ci/full does")
	}
	d := aged.Read(t, aged.TestOfAYear, aged.Grew)
	db := d.Database
	var err error
	db.App, err = postgres.Open(t.Context(), postgres.Options{
		URL: d.URL, Role: postgres.App, MaxConns: 100, Name: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.App.Close)
	s := startIn(t, &db, d.World.Box, api.New, slog.New(slog.DiscardHandler), operations, unlimited)
	w := &agedCaller{service: s, org: d.World.Org(aged.Huge)}
	w.token = (&caller{service: s, Org: w.org.ID}).as(auth.Owner).Token
	sql := testkit.Pgx(t, d.URL)
	all, err := aged.Reads(t.Context(), sql, w.org, s.App.Document())
	if err != nil {
		t.Fatal(err)
	}
	var reads []string
	for _, read := range all {
		for _, of := range []string{"/events", "deliveries", "/replays", "data-export", "/overview"} {
			if strings.Contains(read.Operation, of) && !strings.Contains(read.Operation, "/stream") {
				reads = append(reads, read.Path)
			}
		}
	}
	var clients sync.WaitGroup
	for range 100 {
		clients.Go(func() {
			for range 20 {
				path := reads[rand.IntN(len(reads))]
				if status, b := w.get(path); status != http.StatusOK && status != http.StatusNotFound {
					t.Errorf("%s: %d %s", path, status, b)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		clients.Wait()
		close(done)
	}()
	most, sessions := 0, 0
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		var locks, holders int
		if err := sql.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT pid) FROM pg_locks
			WHERE pid <> pg_backend_pid()
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		).Scan(&locks, &holders); err != nil {
			t.Fatal(err)
		}
		most, sessions = max(most, locks), max(sessions, holders)
	}
	t.Logf("%d reads: at most %d locks, of %d sessions at once", len(reads), most, sessions)
	if most > stockLocks || sessions < 50 {
		t.Errorf("%d locks of %d sessions; a stock server has %d", most, sessions, stockLocks)
	}
}
