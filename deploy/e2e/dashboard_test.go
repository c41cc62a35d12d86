package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/platformredrive"
	"github.com/funnelwork/funnelwork/worker"
)

// desk is an ops listener, and a worker that can be started and stopped, on real servers.
type desk struct {
	*testing.T
	db     *testkit.Database
	sql    *pgxpool.Pool // superuser
	redis  *testkit.RedisServer
	url    string // of the listener
	org    id.ID
	worked atomic.Int64
	fails  atomic.Bool
	gate   chan struct{} // if not nil, a run waits for it
}

type nothing struct{}

var odd = queue.Define[nothing]("test.odd", queue.Options{MaxAttempts: 1})

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, db: testkit.DB(t), redis: testkit.RealRedis(t), org: id.New()}
	var err error
	if d.sql, err = pgxpool.New(t.Context(), d.db.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.sql.Close)
	listener, err := ops.New(ops.Options{
		Role: "test", Log: testkit.Log(t), DB: d.db.App, System: d.db.System,
		DatabaseURL: d.db.URL, RedisURL: d.redis.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- listener.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("ops listener: %v", err)
		}
	})
	d.url = "http://" + ln.Addr().String()
	return d
}

// work starts a worker that ends with the test, or when the returned function is called.
func (d *desk) work() (stop func()) {
	d.Helper()
	client, err := redisx.Open(d.redis.URL, redisx.Worker)
	if err != nil {
		d.Fatal(err)
	}
	operator := operator.New(store.New(d.db.App, d.db.System), nil)
	w := worker.New(worker.Options{
		App: d.db.App, System: d.db.System, Redis: client, Log: testkit.Log(d), Concurrency: 8,
		Handlers: []queue.Handler{
			platformredrive.Job{Operator: operator}.Handler(),
			odd.Handle(func(ctx context.Context, _ *queue.Run[nothing]) error {
				d.worked.Add(1)
				if d.gate != nil {
					select {
					case <-d.gate:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				if d.fails.Load() {
					return errors.New("it is odd")
				}
				return nil
			}),
		},
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			d.Errorf("worker: %v", err)
		}
		_ = client.Close()
	})
	d.Cleanup(stop)
	return stop
}

// add inserts n jobs without enqueuing them; the relay does that.
func (d *desk) add(n int) {
	d.Helper()
	err := d.db.App.Tx(d.Context(), d.org, func(tx *postgres.Tx) error {
		for range n {
			if err := odd.Add(d.Context(), tx, nothing{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) ask(sql string) string {
	d.Helper()
	var said *string
	if err := d.sql.QueryRow(d.Context(), "SELECT ("+sql+")::text").Scan(&said); err != nil &&
		!errors.Is(err, pgx.ErrNoRows) {
		d.Fatalf("%s: %v", sql, err)
	}
	if said == nil {
		return "none"
	}
	return *said
}

func (d *desk) call(method, path, body string) int {
	d.Helper()
	status, _ := ask(d.T, method, d.url+path, "", body)
	return status
}

// listed returns the tasks of the default queue that the dashboard lists in a state.
func (d *desk) listed(state string) (ids []string) {
	d.Helper()
	status, page := ask(d.T, http.MethodGet, d.url+"/queues/api/queues/default/"+state+"_tasks?size=1000", "", "")
	var list struct{ Tasks []struct{ ID string } }
	if err := json.Unmarshal([]byte(page), &list); status != 200 || err != nil {
		d.Fatalf("%s: %d %s", state, status, page)
	}
	for _, t := range list.Tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// archived returns the jobs that the dashboard lists as dead.
func (d *desk) archived() []string {
	d.Helper()
	jobs := d.listed("archived")
	for i, task := range jobs {
		jobs[i] = task[:36]
	}
	slices.Sort(jobs)
	return jobs
}

func (d *desk) until(what string, cond func() bool) {
	d.Helper()
	for began := time.Now(); !cond(); <-time.After(20 * time.Millisecond) {
		if time.Since(began) > patience {
			d.Fatalf("not within %v: %s; %s, archived %v", patience, what, d.ask(`SELECT json_agg(job) FROM job`),
				d.listed("archived"))
		}
	}
}

func TestAJobArchivedInTheDashboardWhileItIsDeliveredIsListedAsDead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.call(http.MethodGet, "/queues/api/queues", "")
	d.add(1)
	task := d.ask(`SELECT id FROM job`) + ":0"
	job, err := id.Parse(task[:36])
	if err != nil {
		t.Fatal(err)
	}
	client, err := redisx.Open(d.redis.URL, redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, err := range dispatch.NewEnqueuer(client).Enqueue(t.Context(),
		queue.Ref{ID: job, Org: d.org, Kind: "test.odd", Lane: queue.Default, MaxAttempts: 1}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	// Delivered and not yet claimed: the task is active in asynq, and the row is still unclaimed.
	move := func(from, to string) {
		t.Helper()
		at := asynqx.Key("default", "")
		if err := errors.Join(client.LMove(t.Context(), at+from, at+to, "RIGHT", "LEFT").
			Err(), client.HSet(t.Context(), at+"t:"+task, "state", to).Err()); err != nil {
			t.Fatal(err)
		}
	}
	move("pending", "active")
	// The operator's page may be slightly outdated, so the request is that for a pending task.
	if status := d.call(http.MethodPost, "/queues/api/queues/default/pending_tasks/"+task+":archive",
		""); status != 204 {
		t.Errorf("archive: %d", status)
	}
	if active := d.listed("active"); len(active) != 1 {
		t.Errorf("active: %v, want the delivery undisturbed", active)
	}
	// Now the delivery reaches a worker.
	move("active", "pending")
	stop := d.work()
	d.until("it is listed under Archived", func() bool { return slices.Equal(d.archived(), []string{job.String()}) })
	stop()
	if state := d.ask(`SELECT state FROM job`); state != "dead" {
		t.Errorf("the row is %s", state)
	}
	// Once listed there, the job is not scanned again. It is listed again after Redis lost all data.
	d.work()
	d.until("nobody looks at it any more", func() bool { return d.ask(`SELECT wake_at FROM job`) == "none" })
	d.fails.Store(true)
	d.add(1)
	d.until("another one is dead and listed", func() bool { return len(d.archived()) == 2 })
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	d.until("both are listed again", func() bool { return len(d.archived()) == 2 })
	if n := d.worked.Load(); n != 1 {
		t.Errorf("%d runs, want the one that failed", n)
	}
}

func TestADeadJobRunsFromTheDashboardThoughItsArchivedTaskIsStillThere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fails.Store(true)
	stop := d.work()
	d.add(3)
	d.until("all are dead and listed", func() bool { return len(d.listed("archived")) == 3 })
	d.fails.Store(false)
	before := d.listed("archived")
	for i, task := range before {
		path, body, want := "/queues/api/queues/default/archived_tasks/"+task+":run", "", 204
		switch i {
		case 1: // through the JSON API
			job := task[:36]
			path, want = "/jobs/"+d.org.String()+"/"+job+"/run", 200
		case 2: // without a worker: its task waits in Redis
			stop()
		}
		if status := d.call(http.MethodPost, path, body); status != want {
			t.Errorf("run %d: %d", i, status)
		}
	}
	d.work()
	d.until("all are through", func() bool { return d.ask(`SELECT count(*) FROM job`) == "0" })
	if n := d.worked.Load(); n != 6 {
		t.Errorf("%d runs, want three that failed and three that did not", n)
	}
	if left := d.listed("archived"); len(left) != 0 {
		t.Errorf("still listed: %v", left)
	}
}

func TestFiftyRedrivesOfOneJobAtOnceRunItOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fails.Store(true)
	d.work()
	d.add(1)
	d.until("it is dead and listed", func() bool { return len(d.listed("archived")) == 1 })
	d.fails.Store(false)
	task := d.listed("archived")[0]
	var all sync.WaitGroup
	var statuses [50]int
	for i := range statuses {
		all.Go(func() {
			statuses[i] = d.call(http.MethodPost, "/queues/api/queues/default/archived_tasks/"+task+":run", "")
		})
	}
	all.Wait()
	took := 0
	for _, s := range statuses {
		// Held by the run, or completed by then.
		if s != 204 && s != 409 && s != 404 {
			t.Errorf("answered %d", s)
		}
		if s == 204 {
			took++
		}
	}
	d.until("it is through", func() bool { return d.ask(`SELECT count(*) FROM job`) == "0" })
	if n := d.worked.Load(); n != 2 || took == 0 {
		t.Errorf("%d runs, want the one that failed and one more; %d redrives were taken", n, took)
	}
}

func TestARunningJobIsHeldAgainstEveryActUntilItEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.gate = make(chan struct{})
	d.work()
	d.add(1)
	d.until("it runs", func() bool { return len(d.listed("active")) == 1 && d.ask(`SELECT owner FROM job`) != "none" })
	job := d.ask(`SELECT id FROM job`)
	for _, c := range [][2]string{{"POST", "/run"}, {"POST", "/archive"}, {"DELETE", "?reason=x"}} {
		if status := d.call(c[0], "/jobs/"+d.org.String()+"/"+job+c[1], ""); status != 409 {
			t.Errorf("%s %s: %d, want 409", c[0], c[1], status)
		}
	}
	close(d.gate)
	d.until("it is through", func() bool { return d.ask(`SELECT count(*) FROM job`) == "0" })
	if n, acts := d.worked.Load(), d.ask(`SELECT count(*) FROM job_act`); n != 1 || acts != "0" {
		t.Errorf("%d runs, %s acts in the audit", n, acts)
	}
}

func TestARedriveGoesOnAfterItsWorkerIsStoppedAndKeepsItsRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const n, rate = 60, 20
	if _, err := d.sql.Exec(t.Context(),
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, state, last_error)
		SELECT $1, uuidv7_at(now()), 'test.odd', '{}', 'default', 1, 'dead', 'no' FROM generate_series(1, $2::int)`,
		d.org, n); err != nil {
		t.Fatal(err)
	}
	stop := d.work()
	began := time.Now()
	if status := d.call(http.MethodPost, "/jobs/redrive",
		fmt.Sprintf(`{"filter":{"kind":"test.odd"},"rate":%d}`, rate)); status != 202 {
		t.Fatalf("redrive: %d", status)
	}
	d.until("it has begun", func() bool { return d.worked.Load() > 5 })
	stop()
	d.work()
	d.until("it has ended", func() bool {
		return d.ask(`SELECT count(*) FROM job_redrive WHERE ended_at IS NOT NULL`) == "1"
	})
	// After a standstill, of which there was one, at most two seconds' worth is made up for.
	if least := time.Duration(n)*time.Second/rate - 2*time.Second; time.Since(began) < least {
		t.Errorf("%d at %d per second took %v, want at least %v", n, rate, time.Since(began), least)
	}
	d.until("all are through", func() bool { return d.ask(`SELECT count(*) FROM job`) == "0" })
	if ran, done := d.worked.Load(), d.ask(`SELECT done FROM job_redrive`); ran != n || done != fmt.Sprint(n) {
		t.Errorf("%d ran, %s were moved; want %d", ran, done, n)
	}
}
