// Package chaos_test breaks what the queue stands on, with real servers and processes that are really killed,
// and counts afterwards: nothing lost, no row effect twice. README.md says what each test does.
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
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var long = flag.Bool("long", false, "run at full size, and hold the service to its promises in time; wants a quiet machine")

// sized is what a test uses in CI, or at full size.
func sized[T any](short, full T) T {
	if *long {
		return full
	}
	return short
}

// effects is what the test kinds write, and what the kinds of the product are made to write beside their own.
// Nothing in it is unique: a row too many shall be seen.
const effects = `
CREATE TABLE effect (
	org_id uuid NOT NULL, job uuid NOT NULL, kind text NOT NULL, args text NOT NULL, attempt int NOT NULL,
	waited_ms float8 NOT NULL, failed text, at timestamptz NOT NULL DEFAULT clock_timestamp()); -- failed: what the last attempt before it said
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

// figure notes what was measured, for the table at the test's end. promised may be "".
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

// asker is a pool that adds jobs as the API does, pushes included.
func (h *house) asker() *postgres.DB {
	h.t.Helper()
	client, err := redisx.Open(h.redis.URL, redisx.Request)
	if err != nil {
		h.t.Fatal(err)
	}
	pusher := queue.NewPusher(queue.PusherOptions{Redis: client, Log: testkit.Log(h.t)})
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	over := make(chan error, 1)
	go func() { over <- pusher.Run(ctx) }()
	db, err := postgres.Open(ctx, postgres.Options{URL: h.database, Role: postgres.App, MaxConns: 8, Name: "asker", AfterCommit: pusher.AfterCommit})
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

// add adds n jobs of one org, many in a transaction.
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

// count asks for one number.
func (h *house) count(sql string, args ...any) (n int) {
	h.t.Helper()
	if err := h.ask(sql, args, &n); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// ask scans one row, on a new session where the old one is gone.
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

// open jobs, the dead not among them.
func (h *house) open() int {
	h.t.Helper()
	return h.count("SELECT count(*) FROM job WHERE state = 'ready'")
}

func (h *house) dead() int {
	h.t.Helper()
	return h.count("SELECT count(*) FROM job WHERE state = 'dead'")
}

// until waits for cond and answers how long it took; it fails after limit.
func (h *house) until(limit time.Duration, what string, cond func() bool) time.Duration {
	h.t.Helper()
	return h.wait(limit, what, cond, func() string { return fmt.Sprintf("; %d jobs open, %d dead", h.open(), h.dead()) })
}

// wait is until where Postgres may be away.
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

// once fails where a job of a kind has had its row effect twice, or where the number of jobs is not n.
func (h *house) once(kind string, n int) {
	h.t.Helper()
	var rows, jobs int
	if err := h.ask("SELECT count(*), count(DISTINCT job) FROM effect WHERE kind = $1", []any{kind}, &rows, &jobs); err != nil {
		h.t.Fatal(err)
	}
	h.figure("row effects of "+kind, fmt.Sprint(n), "%d of %d jobs", rows, jobs)
	if rows != n || jobs != n {
		h.t.Errorf("%s: %d effects of %d jobs, want one of each of %d", kind, rows, jobs, n)
	}
}

// receiver is what lies beyond the platform: it remembers who called under which key.
type receiver struct {
	URL   string
	mu    sync.Mutex
	calls map[string]int    // by idempotency key
	about map[string]string // body -> the key that it came under first
	mixed []string          // bodies that came under two keys
	hold  chan struct{}     // while not nil, calls wait until it is closed
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{calls: map[string]int{}, about: map[string]string{}}
	s := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
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

// called is how many keys came, and how many calls.
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
		if binary.dir, binary.err = os.MkdirTemp("/tmp", "fw-chaos-bin-"); binary.err != nil { //nolint:usetesting // outlives this test
			return
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(binary.dir, "funnelwork"), "github.com/funnelwork/funnelwork").CombinedOutput(); err != nil {
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
	if !*long { // they wait more than they work
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
