package worker_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/queue/feed"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/worker"
)

// house is a test's Postgres and Redis, with a table for the effects of jobs.
type house struct {
	t     testing.TB
	db    *testkit.Database
	redis *testkit.RedisServer
	link  redis.UniversalClient
	org   id.ID
	sql   *pgx.Conn // superuser
	log   *slog.Logger
	env   []string // more variables of the processes that it starts
}

// done is the table for the effects of test jobs.
const done = `
CREATE TABLE done (org_id uuid NOT NULL, job uuid NOT NULL, note text NOT NULL DEFAULT '',
	at timestamptz NOT NULL DEFAULT clock_timestamp());
CALL tenant('done');`

func open(t testing.TB) *house {
	t.Helper()
	return openOn(t, testkit.DB(t))
}

// openOn opens a house on a database.
func openOn(t testing.TB, db *testkit.Database) *house {
	t.Helper()
	h := &house{t: t, db: db, redis: testkit.RealRedis(t), org: id.New(), log: testkit.Log(t)}
	h.sql = testkit.Pgx(t, h.db.URL)
	h.exec(done)
	h.link = h.client(redisx.Worker)
	return h
}

func (h *house) client(use redisx.Profile) redis.UniversalClient {
	h.t.Helper()
	c, err := redisx.Open(h.redis.URL, use)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// work starts a worker that stops at the end of the test or when stop is called.
func (h *house) work(o worker.Options, handlers ...queue.Handler) (stop func()) {
	h.t.Helper()
	_, stop = h.worker(o, handlers...)
	return stop
}

func (h *house) worker(o worker.Options, handlers ...queue.Handler) (w *worker.Worker, stop func()) {
	h.t.Helper()
	return h.workOn(h.client(redisx.Worker), o, handlers...)
}

func (h *house) workOn(client redis.UniversalClient, o worker.Options, handlers ...queue.Handler) (w *worker.Worker,
	stop func(),
) {
	h.t.Helper()
	o.App, o.System, o.Redis, o.Log, o.Handlers = h.db.App, h.db.System, client, h.log, handlers
	if o.Concurrency == 0 {
		o.Concurrency = 4
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	w = worker.New(o)
	go func() { ended <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Errorf("worker: %v", err)
		}
	})
	h.t.Cleanup(stop)
	return w, stop
}

// add writes jobs in one transaction without pushing them.
func (h *house) add(adds ...func(context.Context, *postgres.Tx) error) {
	h.t.Helper()
	h.addFor(h.org, adds...)
}

func (h *house) addFor(org id.ID, adds ...func(context.Context, *postgres.Tx) error) {
	h.t.Helper()
	err := h.db.App.Tx(h.t.Context(), org, func(tx *postgres.Tx) error {
		for _, a := range adds {
			if err := a(h.t.Context(), tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := h.sql.Exec(context.WithoutCancel(h.t.Context()), sql, args...); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
}

// job is the tested columns of a job's row.
type job struct {
	ID       id.ID
	Org      id.ID `db:"org_id"`
	Kind     string
	Lane     queue.Lane
	State    string
	Attempt  int
	Max      int `db:"max_attempts"`
	Dispatch int
	Losses   int
	Owner    *id.ID
	WakeAt   *time.Time `db:"wake_at"`
	RunAt    time.Time  `db:"run_at"`
	Error    string     `db:"last_error"`
}

func (j job) ref() queue.Ref {
	return queue.Ref{ID: j.ID, Org: j.Org, Kind: j.Kind, Lane: j.Lane, MaxAttempts: j.Max, Dispatch: j.Dispatch}
}

func (h *house) jobs() []job {
	h.t.Helper()
	rows, _ := h.sql.Query(context.WithoutCancel(h.t.Context()),
		"SELECT id, org_id, kind, lane, state, attempt, max_attempts, dispatch, losses, owner, wake_at, run_at, "+
			"last_error FROM job ORDER BY id")
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[job])
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// only returns the only job.
func (h *house) only() job {
	h.t.Helper()
	all := h.jobs()
	if len(all) != 1 {
		h.t.Fatalf("%d jobs, want 1: %+v", len(all), all)
	}
	return all[0]
}

func (h *house) count(sql string, args ...any) int {
	h.t.Helper()
	var n int
	if err := h.sql.QueryRow(context.WithoutCancel(h.t.Context()), sql, args...).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *house) doneRows() int {
	h.t.Helper()
	return h.count("SELECT count(*) FROM done")
}

// giveUpAfter is how long a test waits for what must come: far beyond what a slow machine needs under the race
// detector.
const giveUpAfter = 5 * time.Minute

// until waits for cond, polling every 10 ms, and returns how long it took. It fails after limit: giveUpAfter, or what a
// test says of its subject.
func (h *house) until(limit time.Duration, what string, cond func() bool) time.Duration {
	h.t.Helper()
	start := time.Now()
	for !cond() {
		if time.Since(start) > limit {
			all := h.jobs()
			h.t.Fatalf("not within %s: %s; %d jobs: %+v", limit, what, len(all), all[:min(len(all), 5)])
		}
		<-time.After(10 * time.Millisecond)
	}
	return time.Since(start)
}

// push enqueues refs in asynq as the API does.
func (h *house) push(refs ...queue.Ref) {
	h.t.Helper()
	for _, err := range dispatch.NewEnqueuer(h.link).Enqueue(h.t.Context(), refs...) {
		// The relay may have been faster.
		if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
			h.t.Fatal(err)
		}
	}
}

func (h *house) inspect() *asynq.Inspector { return asynq.NewInspectorFromRedisClient(h.link) }

func (h *house) store() *store.Store { return store.New(h.db.App, h.db.System) }

func (h *house) feeder() *feed.Feeder { return feed.New(h.store()) }

func (h *house) archived() []string {
	h.t.Helper()
	infos, err := h.inspect().ListArchivedTasks("default", asynq.PageSize(1000))
	if err != nil {
		h.t.Logf("archived: %v", err)
		return nil
	}
	var out []string
	for _, i := range infos {
		out = append(out, i.LastErr)
	}
	slices.Sort(out)
	return out
}

// value returns a metric's sum over all its labels.
func value(t testing.TB, reg prometheus.Gatherer, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

type none struct{}

// mark is a Tx kind that inserts a row into done.
var mark = queue.Define[none]("test.mark", queue.Options{})

func markWork(ctx context.Context, tx *postgres.Tx, run *queue.Run[none]) error {
	tx.Queue("INSERT INTO done (org_id, job, note) VALUES ($1, $2, $3)", tx.Org(), run.ID,
		fmt.Sprintf("attempt %d", run.Attempt))
	return nil
}

func adding[A any](k queue.Kind[A], args A, how ...queue.Adding) func(context.Context, *postgres.Tx) error {
	return func(ctx context.Context, tx *postgres.Tx) error { return k.Add(ctx, tx, args, how...) }
}

// part is the environment variable with the role of a test binary that the test kills or stops.
const part = "FUNNELWORK_TEST_PART"

func TestMain(m *testing.M) {
	if role := os.Getenv(part); role != "" {
		play(role)
		return
	}
	// These tests mostly wait.
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// process starts the test binary in a role, with this house's servers.
func (h *house) process(role string) *exec.Cmd {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(h.t.Context()), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), part+"="+role, "DB="+h.db.URL, "REDIS="+h.redis.URL, "ORG="+h.org.String())
	cmd.Env = append(cmd.Env, h.env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func newOrg() id.ID { return id.New() }
