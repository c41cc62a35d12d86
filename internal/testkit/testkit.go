// Package testkit provides real servers for tests: each test gets a migrated private database, and a private Redis.
//
// Each test binary starts one private Postgres on first use. It ends with the binary, even by kill -9, and removes its
// directory. Tests look for Postgres and redis-server as `up` does, which fetches them where none is installed. Without
// Postgres, tests are skipped with a message, and fail if CI=true.
package testkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/migrations"
)

// Database is the private database of one test.
type Database struct {
	// URL logs in as a superuser.
	URL string
	// App and System are pools of these roles, closed with the test. They have no AfterCommit.
	App, System *postgres.DB
}

// server is the test binary's Postgres with the migrated template database.
var server = sync.OnceValues(func() (*cluster, error) { return startCluster(context.Background()) })

type cluster struct {
	url   string
	admin *pgxpool.Pool
	next  atomic.Int64
}

// DB returns a migrated database, dropped when the test ends. At that time every event that the test announced in it,
// and every test send, is checked against the schema of its type.
func DB(t testing.TB) *Database {
	t.Helper()
	c, err := server()
	if err != nil {
		unavailable(t, err)
	}
	name := fmt.Sprintf("t%d", c.next.Add(1))
	// Copying files costs a checkpoint, which is cheap with fsync off: 22 ms against 138 ms through the log.
	if _, err := c.admin.Exec(t.Context(),
		"CREATE DATABASE "+name+" TEMPLATE funnelwork STRATEGY FILE_COPY"); err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(func() {
		if _, err := c.admin.Exec(context.WithoutCancel(t.Context()),
			"DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("testkit: %v", err)
		}
	})
	url := strings.Replace(c.url, "/funnelwork?", "/"+name+"?", 1)
	t.Cleanup(func() { holdEvents(t, url) })
	d := &Database{URL: url}
	d.App, d.System = Open(t, d.URL, postgres.App), Open(t, d.URL, postgres.System)
	return d
}

// Open opens another pool of a role, closed with the test.
func Open(t testing.TB, url, role string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url, Role: role, MaxConns: 8, Name: "test"})
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(db.Close)
	return db
}

func startCluster(ctx context.Context) (*cluster, error) {
	template, err := migrated()
	if err != nil {
		return nil, err
	}
	p, err := local.StartPostgres(ctx, local.PostgresOptions{Fast: true, Template: template, Log: fetchLog()})
	if err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(strings.Replace(p.URL, "/funnelwork?", "/postgres?", 1))
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 4
	admin, err := pgxpool.NewWithConfig(ctx, cfg)
	return &cluster{url: p.URL, admin: admin}, err
}

// migrated returns the template of a migrated database. The test binaries of one version of the schema share it for a
// day: the migrations make the partitions of the days around it.
func migrated() (*local.Template, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "funnelwork-test")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, time.Now().UTC().Format(time.DateOnly), shrinking)
	err = fs.WalkDir(migrations.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := migrations.Files.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(b), b)
		return err
	})
	return &local.Template{
		Dir: dir, Key: hex.EncodeToString(sum.Sum(nil)[:8]),
		Prepare: func(ctx context.Context, url string) error {
			if err := migrations.Up(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
				return err
			}
			return shrink(ctx, url)
		},
	}, err
}

// shrinking makes a migrated database smaller: it is copied for every test, and each query of events plans for each of
// the days. It drops the days after tomorrow, which only tests of the partitions have rows for, and rewrites the system
// tables that the migrations have left full of holes. The tables themselves stay as they are, never vacuumed: so the
// planner takes them for tables with rows.
var shrinking = []string{
	`DO $$ DECLARE day regclass; BEGIN
		FOR day IN SELECT i.inhrelid FROM partitioned p JOIN pg_inherits i ON i.inhparent = p.name::regclass
			JOIN pg_class c ON c.oid = i.inhrelid
			WHERE c.relname ~ '_\d{8}$' AND right(c.relname, 8)::date > (now() AT TIME ZONE 'UTC')::date + 1
		LOOP EXECUTE format('DROP TABLE %s', day); END LOOP; END $$`,
	`VACUUM FULL pg_attribute, pg_class, pg_constraint, pg_depend, pg_description, pg_index, pg_proc, pg_rewrite,
		pg_shdepend, pg_statistic, pg_type`,
}

// shrink executes shrinking.
func shrink(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	for _, sql := range shrinking {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return errors.Join(err, conn.Close(ctx))
		}
	}
	return conn.Close(ctx)
}

// fetchLog returns the log of a look-up: fetching a server may take minutes.
func fetchLog() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// NewPostgres starts a server for one test, for stops, floods and restarts that a shared server cannot take.
func NewPostgres(t testing.TB) string {
	t.Helper()
	p, err := local.StartPostgres(t.Context(), local.PostgresOptions{Fast: true, Log: fetchLog()})
	if err != nil {
		unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("testkit: %v", err)
		}
	})
	return p.URL
}

// Pgx opens a plain connection to url, closed with the test.
func Pgx(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// unavailable skips the test because of a missing server, or fails it if CI=true.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("testkit: %v", err)
	}
	t.Skipf("SKIPPED FOR WANT OF A SERVER: %v", err)
}

// Log returns a logger that writes to the test's log until the test ends.
func Log(t testing.TB) *slog.Logger {
	t.Helper()
	w := &testLog{t: t}
	t.Cleanup(w.end)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// testLog drops output after the test's end, when t.Log would panic.
type testLog struct {
	t     testing.TB
	mu    sync.Mutex
	ended bool
}

func (w *testLog) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.t.Log(string(bytes.TrimRight(b, "\n")))
	}
	return len(b), nil
}

func (w *testLog) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// Unavailable skips the test because of a missing server, or fails it if CI=true.
func Unavailable(t testing.TB, err error) {
	t.Helper()
	unavailable(t, err)
}
