package chaos_test

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Redis loses all data three times while many orgs have more open jobs than MaxInFlight. The first jobs of each org are
// slow, so that the limit is reached the first time.
func TestAllJobsRunOnceThoughRedisLosesEverything(t *testing.T) {
	h := open(t)
	orgs, each, slow := sized(20, 50), sized(250, 2000), sized(100, 200)
	db := h.asker()
	var adding sync.WaitGroup
	for range orgs {
		adding.Go(func() {
			org := newOrg()
			h.add(db, org, mark, queue.MaxInFlight, args{Ms: slow})
			h.add(db, org, mark, each-queue.MaxInFlight, args{Ms: 1})
		})
	}
	adding.Wait()
	all := orgs * each
	h.worker("worker1", 20)
	h.worker("worker2", 20)
	begin := time.Now()
	for n, done := range []int{20, all / 3, 2 * all / 3} {
		h.until(giveUpAfter, "some are done", func() bool { return h.count("SELECT count(*) FROM effect") >= done })
		rows := h.pushed()
		if err := h.link.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		var still int
		took := h.until(giveUpAfter, "every job of a window is in Redis again", func() bool {
			still = h.absent(rows)
			return still == 0
		})
		h.figure("flush with jobs in windows: in Redis again", "20 s", "%d of %d open: %.1f s", len(rows),
			all-h.count("SELECT count(*) FROM effect"), took.Seconds())
		if took > sized(time.Minute, 20*time.Second) {
			t.Errorf("flush %d: %s until every job of a window was in Redis again", n, took)
		}
		if n == 0 && len(rows) < orgs*queue.MaxInFlight/2 {
			t.Errorf("only %d jobs were in windows: too few to show anything", len(rows))
		}
	}
	h.until(10*time.Minute, "all done", func() bool { return h.open() == 0 })
	h.figure("all done, adding apart", "", "%.1f s", time.Since(begin).Seconds())
	h.once("chaos.mark", all)
}

// row is a job that should be in Redis.
type row struct {
	org, id id.ID
}

// pushed returns the dispatched jobs that are not claimed.
func (h *house) pushed() (rows []row) {
	h.t.Helper()
	found, _ := h.sql.Query(h.t.Context(),
		"SELECT org_id, id FROM job WHERE state = 'ready' AND wake_at IS NOT NULL AND owner IS NULL")
	var r row
	if _, err := pgx.ForEachRow(found, []any{&r.org, &r.id}, func() error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	return rows
}

// absent returns how many of the rows are still open and not in Redis.
func (h *house) absent(rows []row) int {
	h.t.Helper()
	ids := make([]id.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	found, _ := h.sql.Query(h.t.Context(),
		"SELECT lane, id || ':' || dispatch FROM job WHERE state = 'ready' AND wake_at IS NOT NULL AND id = ANY ($1)",
		ids)
	pipe := h.link.Pipeline()
	var lane, task string
	var there []*redis.IntCmd
	if _, err := pgx.ForEachRow(found, []any{&lane, &task}, func() error {
		there = append(there, pipe.Exists(h.t.Context(), asynqx.TaskKey(lane, task)))
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	if len(there) == 0 {
		return 0
	}
	if _, err := pipe.Exec(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	n := 0
	for _, cmd := range there {
		n += 1 - int(cmd.Val())
	}
	return n
}

// Redis is unavailable while clients create contacts at a steady rate, with rate limits on. At full size a second
// service with an available Redis gets the same requests at the same time, so that effects of the machine on both are
// ignored.
func TestRequestsDoNotFeelThatRedisIsAway(t *testing.T) {
	h := open(t)
	before, away, perSecond := sized(4*time.Second, 30*time.Second), sized(5*time.Second, 60*time.Second), 50
	total := int((before + away + 4*time.Second).Seconds()) * perSecond
	limited := func(h *house) (start func() *traffic) {
		seeding := h.api("seeding", "FUNNELWORK_RATE_LIMIT=off")
		keys := h.orgs(seeding.url, sized(20, 40), true) // enough that none reaches its limit
		seeding.kill(9)
		api := h.api("api")
		return func() *traffic { return h.drive([]string{api.url}, keys, total, 16) }
	}
	start, worker := limited(h), h.worker("worker", 10)
	beside := func() *traffic { return nil }
	if *long {
		beside = limited(open(t))
	}
	f, peer, begin := start(), beside(), time.Now()
	pace := time.NewTicker(time.Second / time.Duration(perSecond))
	defer pace.Stop()
	paced := func(until time.Duration) time.Duration {
		for time.Since(begin) < until {
			<-pace.C
			f.may.Add(1)
			if peer != nil {
				peer.may.Add(1)
			}
		}
		return time.Since(begin)
	}
	from := paced(before)
	h.redis.Stop()
	cpu, gone := worker.cpu(), paced(before+time.Second/2) // the very end is not evaluated
	to := paced(before + away)
	used := (worker.cpu() - cpu).Seconds() / (to - from).Seconds()
	backlog := h.open()
	effectsBefore := h.count("SELECT count(*) FROM effect")
	h.redis.Start()
	back := time.Now()
	drains := h.until(giveUpAfter, "the backlog drains", func() bool {
		return h.count("SELECT count(*) FROM effect") > effectsBefore
	})
	f.let()
	f.settled()
	done := time.Since(back)

	with, n := f.p99(time.Second, from)
	without, m := f.p99(gone, to)
	h.figure("statuses", "201 and 200 alone", "%v", f.statuses)
	h.figure("p99 with Redis, before", "", "%.1f ms of %d", ms(with), n)
	if peer != nil {
		peer.let()
		with, n = peer.p99(gone, to)
		h.figure("p99 with Redis, beside", "", "%.1f ms of %d", ms(with), n)
	}
	h.figure("p99 without", "+ 10 ms", "%.1f ms of %d", ms(without), m)
	h.figure("backlog at Redis's return", "", "%d", backlog)
	h.figure("first run after it", "2 s", "%.2f s", drains.Seconds())
	h.figure("all done after it, 4 s of requests included", "", "%.1f s", done.Seconds())
	h.figure("worker's processors while Redis was away", "0.1", "%.3f", used)
	if len(f.statuses) != 2 || f.statuses[201] != f.total || f.statuses[200] != f.total {
		t.Errorf("answers %v, want 201 and 200 alone", f.statuses)
	}
	if limit := with + sized(time.Second, 10*time.Millisecond); without > limit {
		t.Errorf("p99 %s without Redis, want %s at most", without, limit)
	}
	if backlog < m/2 {
		t.Errorf("only %d jobs waited for Redis", backlog)
	}
	if limit := sized(10*time.Second, 2*time.Second); drains > limit {
		t.Errorf("the backlog began to drain after %s, want %s", drains, limit)
	}
	if limit := sized(0.5, 0.1); used > limit {
		t.Errorf("the worker used %.3f processors while Redis was away, want %.1f at most", used, limit)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
