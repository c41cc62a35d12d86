package worker_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/worker"
)

// Jobs are added before, while and after the clock of Postgres is wrong, more than the window of their org, beside one
// that is planned for tomorrow.
func TestJobsRunOnceThoughTheClockOfPostgresJumpsByAnHour(t *testing.T) {
	t.Parallel()
	for name, jumps := range map[string][]time.Duration{
		"ahead and back": {time.Hour, 0},
		"back and ahead": {-time.Hour, 0},
	} {
		for _, before := range []bool{true, false} {
			running := map[bool]string{true: ", a worker runs", false: ", a worker starts later"}[before]
			t.Run(name+running, func(t *testing.T) {
				t.Parallel()
				server, set := testkit.PostgresWithClock(t)
				h := openOn(t, &testkit.Database{
					URL: server.URL, App: testkit.Open(t, server.URL, postgres.App),
					System: testkit.Open(t, server.URL, postgres.System),
				})
				h.add(adding(mark, none{}, queue.At(time.Now().Add(24*time.Hour))))
				if before {
					h.work(worker.Options{}, mark.HandleTx(markWork))
				}
				const each = 2 * queue.MaxInFlight
				added := 0
				for _, ahead := range append([]time.Duration{0}, jumps...) {
					set(ahead)
					for range each {
						h.add(adding(mark, none{}))
						added++
					}
				}
				if !before {
					h.work(worker.Options{}, mark.HandleTx(markWork))
				}
				h.until(time.Minute, "all jobs but the planned one have run", func() bool { return len(h.jobs()) == 1 })
				if n := h.count("SELECT count(DISTINCT job) FROM done"); n != added || h.doneRows() != added {
					t.Errorf("%d jobs ran, %d times, of %d", n, h.doneRows(), added)
				}
			})
		}
	}
}
