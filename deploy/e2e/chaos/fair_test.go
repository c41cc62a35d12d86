package chaos_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
)

// One org enqueues a flood of short jobs, and is alone for a while; then twenty other orgs enqueue a few each.
func TestAFloodOfOneOrgDelaysNobodyAndKeepsItsRate(t *testing.T) {
	h := open(t)
	const others, theirs = 20, 20
	flood, alone, together := sized(20_000, 200_000), sized(2*time.Second, 15*time.Second), 5*time.Second
	db, hog := h.asker(), newOrg()
	begin := time.Now()
	h.add(db, hog, mark, flood, args{Ms: 2})
	h.figure("flood added", "", "%d jobs in %.1f s", flood, time.Since(begin).Seconds())
	empty := h.memory()
	h.worker("worker", 20)
	h.until(giveUpAfter, "the flood runs", func() bool { return h.count("SELECT count(*) FROM effect") > 100 })

	watch, stop := context.WithCancel(t.Context())
	var most struct{ bytes, keys int }
	var watching sync.WaitGroup
	watching.Go(func() {
		for watch.Err() == nil {
			most.bytes = max(most.bytes, h.memory()-empty)
			most.keys = max(most.keys, int(h.link.DBSize(t.Context()).Val()))
			select {
			case <-watch.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	clock := func() (at time.Time) {
		if err := h.ask("SELECT clock_timestamp()", nil, &at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	from := clock()
	<-time.After(alone)
	joined := clock()
	var adding sync.WaitGroup
	for i := range others {
		adding.Go(func() {
			org := newOrg()
			<-time.After(time.Duration(i) * together / others / theirs)
			tick := time.NewTicker(together / theirs)
			defer tick.Stop()
			for range theirs {
				h.add(db, org, mark, 1, args{Ms: 2})
				<-tick.C
			}
		})
	}
	adding.Wait()
	over := clock()
	left := h.count("SELECT count(*) FROM job WHERE org_id = $1", hog)
	small := func() int { return h.count("SELECT count(*) FROM effect WHERE org_id <> $1", hog) }
	h.until(giveUpAfter, "the others' jobs are done", func() bool { return small() == others*theirs })
	stop()
	watching.Wait()

	waits := h.waits(hog)
	rate := func(from, to time.Time) float64 {
		n := h.count("SELECT count(*) FROM effect WHERE org_id = $1 AND at >= $2 AND at < $3", hog, from, to)
		return float64(n) / to.Sub(from).Seconds()
	}
	before, during := rate(from, joined), rate(joined, over)
	h.figure("the others' jobs done", strconv.Itoa(others*theirs), "%d", small())
	h.figure("their waits, p50", "", "%.1f ms", ms(quantile(waits, 0.5)))
	h.figure("their waits, p99", "250 ms", "%.1f ms", ms(quantile(waits, 0.99)))
	h.figure("the flood's rate alone", "", "%.0f/s", before)
	h.figure("its rate beside the others", "80 %", "%.0f/s, %.0f %%", during, 100*during/before)
	h.figure("of it still open at their end", "> 0", "%d", left)
	h.figure("Redis, at most", "bounded", "%.1f MB and %d keys more than empty", float64(most.bytes)/1e6, most.keys)
	// Beside other tests times say nothing; that the flood is not over says that nobody waited for all of it.
	if wait := quantile(waits, 0.99); *long && wait > 250*time.Millisecond {
		t.Errorf("the others waited %s (p99), want 250ms at most", wait)
	}
	if left == 0 { // a machine this fast needs the full size
		t.Log("the flood was over before the others were done: its rate beside them is not judged")
		if *long {
			t.Error("the flood was too small")
		}
	} else if *long && during < 0.8*before {
		t.Errorf("the flood kept %.0f %% of its rate, want 80 %%", 100*during/before)
	}
	// The in-flight jobs of each org, one lane, and asynq's own keys.
	if most.keys > (others+1)*50+100 || most.bytes > 16<<20 {
		t.Errorf("Redis grew by %d keys and %d bytes", most.keys, most.bytes)
	}
	dropped := 0
	if !*long { // the rest of the flood would show nothing new
		dropped = h.count(
			"WITH gone AS (DELETE FROM job WHERE org_id = $1 AND wake_at IS NULL RETURNING 1) SELECT count(*) FROM "+
				"gone", hog)
	}
	h.until(giveUpAfter, "the flood is done", func() bool { return h.open() == 0 })
	h.once("chaos.mark", flood+others*theirs-dropped)
}

// waits returns the wait times of the jobs of all orgs except one.
func (h *house) waits(but id.ID) (all []time.Duration) {
	h.t.Helper()
	rows, _ := h.sql.Query(h.t.Context(), "SELECT waited_ms FROM effect WHERE org_id <> $1", but)
	var w float64
	if _, err := pgx.ForEachRow(rows, []any{&w}, func() error {
		all = append(all, time.Duration(w*float64(time.Millisecond)))
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	return all
}

// memory returns the memory that Redis uses, in bytes.
func (h *house) memory() int {
	info, err := h.link.InfoMap(h.t.Context(), "memory").Result()
	if err != nil {
		h.t.Errorf("memory: %v", err)
		return 0
	}
	n, _ := strconv.Atoi(info["Memory"]["used_memory"])
	return n
}
