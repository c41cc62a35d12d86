// Package chaos_test injects faults into the queue's dependencies, with real servers and processes that are really
// killed. It then checks that no job is lost and no row effect occurs twice. README.md describes each test.
package chaos_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var long = flag.Bool("long", false,
	"run at full size, and hold the service to its promises in time; wants a quiet machine")

// sized returns the value for CI or for a run at full size.
func sized[T any](short, full T) T {
	if *long {
		return full
	}
	return short
}

// effects is the table to which the test's kinds write, and to which the product's kinds also write in these tests. It
// has no unique constraint, so that an extra row is visible.
const effects = `
CREATE TABLE effect (
	org_id uuid NOT NULL, job uuid NOT NULL, kind text NOT NULL, args text NOT NULL, attempt int NOT NULL,
	waited_ms float8 NOT NULL, failed text, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX ON effect (at);
CALL tenant('effect');`

// house is one test's servers, processes and figures.
type house struct {
	t        *testing.T
	database string // URL
	redis    *testkit.RedisServer
	keyset   string
	sql      *pgx.Conn // superuser
	link     redis.UniversalClient
	receiver *receiver
	mu       sync.Mutex
	figures  [][3]string
}

func open(t *testing.T) *house {
	t.Helper()
	return openOn(t, testkit.DB(t).URL)
}

func openOn(t *testing.T, database string) *house {
	t.Helper()
	keyset, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, database: database, redis: testkit.RealRedis(t), keyset: keyset, receiver: newReceiver(t)}
	h.sql = testkit.Pgx(t, database)
	if _, err := h.sql.Exec(t.Context(), effects); err != nil {
		t.Fatal(err)
	}
	if h.link, err = redisx.Open(h.redis.URL, redisx.Worker); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.link.Close() })
	t.Cleanup(h.print)
	return h
}

// figure records a measurement for the table at the test's end. promised may be "".
func (h *house) figure(what, promised, format string, measured ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.figures = append(h.figures, [3]string{what, fmt.Sprintf(format, measured...), promised})
}

func (h *house) print() {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintf(w, "%s\tmeasured\tpromised\n", h.t.Name())
	for _, f := range h.figures {
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%s\n", f[0], f[1], f[2])
	}
	_ = w.Flush()
	h.t.Log("\n" + b.String())
}

// asker opens a pool that enqueues jobs as the API does, including after commits.
func (h *house) asker() *postgres.DB {
	h.t.Helper()
	client, err := redisx.Open(h.redis.URL, redisx.Request)
	if err != nil {
		h.t.Fatal(err)
	}
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: client, Log: testkit.Log(h.t)})
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	over := make(chan error, 1)
	go func() { over <- pusher.Run(ctx) }()
	db, err := postgres.Open(ctx,
		postgres.Options{
			URL: h.database, Role: postgres.App, MaxConns: 8, Name: "asker",
			AfterCommit: pusher.AfterCommit,
		})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		db.Close()
		cancel()
		if err := <-over; err != nil {
			h.t.Errorf("pusher: %v", err)
		}
		_ = client.Close()
	})
	return db
}

// add enqueues n jobs of one org, many in a transaction.
func (h *house) add(db *postgres.DB, org id.ID, k queue.Kind[args], n int, a args) {
	for n > 0 {
		part := min(n, 500)
		err := db.Tx(h.t.Context(), org, func(tx *postgres.Tx) error {
			for range part {
				if err := k.Add(h.t.Context(), tx, a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			h.t.Errorf("add: %v", err)
			return
		}
		n -= part
	}
}

// count returns the number that sql selects.
func (h *house) count(sql string, args ...any) (n int) {
	h.t.Helper()
	if err := h.ask(sql, args, &n); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// ask scans one row, in a new session if the old one is gone.
func (h *house) ask(sql string, args []any, into ...any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx := context.WithoutCancel(h.t.Context())
	err := h.sql.QueryRow(ctx, sql, args...).Scan(into...)
	if err == nil || !h.sql.IsClosed() {
		return err
	}
	conn, err := pgx.Connect(ctx, h.database)
	if err != nil {
		return err
	}
	h.t.Cleanup(func() { _ = conn.Close(ctx) })
	h.sql = conn
	return h.sql.QueryRow(ctx, sql, args...).Scan(into...)
}

// open returns the number of open jobs, without dead ones.
func (h *house) open() int {
	h.t.Helper()
	return h.count("SELECT count(*) FROM job WHERE state = 'ready'")
}

func (h *house) dead() int {
	h.t.Helper()
	return h.count("SELECT count(*) FROM job WHERE state = 'dead'")
}

// giveUpAfter is how long a test waits for what must come: far beyond what a slow machine needs.
const giveUpAfter = 5 * time.Minute

// until waits for cond and returns how long it took. It fails after limit.
func (h *house) until(limit time.Duration, what string, cond func() bool) time.Duration {
	h.t.Helper()
	return h.wait(limit, what, cond, func() string {
		return fmt.Sprintf("; %d jobs open, %d dead", h.open(), h.dead())
	})
}

// wait is until for times when Postgres may be unavailable.
func (h *house) wait(limit time.Duration, what string, cond func() bool, more ...func() string) time.Duration {
	h.t.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			for _, m := range more {
				what += m()
			}
			h.t.Fatalf("not within %s: %s", limit, what)
		}
		<-time.After(10 * time.Millisecond)
	}
	return time.Since(begin)
}

// once fails if a job of a kind had its row effect twice, or if the number of jobs is not n.
func (h *house) once(kind string, n int) {
	h.t.Helper()
	var rows, jobs int
	if err := h.ask("SELECT count(*), count(DISTINCT job) FROM effect WHERE kind = $1", []any{kind}, &rows,
		&jobs); err != nil {
		h.t.Fatal(err)
	}
	h.figure("row effects of "+kind, fmt.Sprint(n), "%d of %d jobs", rows, jobs)
	if rows != n || jobs != n {
		h.t.Errorf("%s: %d effects of %d jobs, want one of each of %d", kind, rows, jobs, n)
	}
}

// receiver is the external system: it records the callers under each key.
type receiver struct {
	URL   string
	mu    sync.Mutex
	calls map[string]int    // by idempotency key
	about map[string]string // body -> the first key with it
	mixed []string          // bodies with two keys
	hold  chan struct{}     // if not nil, calls wait until it is closed
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{calls: map[string]int{}, about: map[string]string{}}
	s := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	r.URL = s.URL
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	key, about := req.Header.Get("Idempotency-Key"), ""
	if key == "" {
		key = req.Header.Get("webhook-id")
		about = contactIn(req.Body)
	}
	r.mu.Lock()
	r.calls[key]++
	if first, known := r.about[about]; about != "" && known && first != key {
		r.mixed = append(r.mixed, about)
	}
	r.about[about] = key
	hold := r.hold
	r.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-req.Context().Done():
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// called returns the number of keys and of calls.
func (r *receiver) called() (keys, calls int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.calls {
		calls += n
	}
	return len(r.calls), calls
}

// binary is the product, built once.
var binary = struct {
	sync.Once
	dir string
	err error
}{}

func build(t *testing.T) string {
	t.Helper()
	binary.Do(func() {
		binary.dir, binary.err = os.MkdirTemp("/tmp", "fw-chaos-bin-") //nolint:usetesting // outlives this test
		if binary.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(binary.dir, "funnelwork"),
			"github.com/funnelwork/funnelwork").CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return filepath.Join(binary.dir, "funnelwork")
}

func TestMain(m *testing.M) {
	if role := os.Getenv(part); role != "" {
		play(role)
		return
	}
	flag.Parse()
	if !*long { // the tests mostly wait
		if err := flag.Set("test.parallel", "5"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	os.Exit(code)
}

func newOrg() id.ID { return id.New() }
