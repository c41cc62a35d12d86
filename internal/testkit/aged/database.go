package aged

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Database is an aged database of one test.
type Database struct {
	testkit.Database
	World *World
	// Sent has the statements that App sends.
	Sent *Sent
}

// server is a server of this test binary with one aged database.
type server struct {
	url   string
	admin *pgxpool.Pool
	world *World
	next  atomic.Int64
	read  func() (string, error) // name of the database that Read shares
}

// servers are the servers of this test binary, by size and state. They end with it.
var servers = struct {
	sync.Mutex
	of map[string]func() (*server, error)
}{of: map[string]func() (*server, error){}}

func serverOf(size Size, state State) (*server, error) {
	servers.Lock()
	key := size.Name + " " + string(state)
	start, ok := servers.of[key]
	if !ok {
		start = sync.OnceValues(func() (*server, error) { return startServer(context.Background(), size, state) })
		servers.of[key] = start
	}
	servers.Unlock()
	return start()
}

func startServer(ctx context.Context, size Size, state State) (*server, error) {
	template, err := kept(size, state)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	p, err := local.StartPostgres(ctx, local.PostgresOptions{Fast: true, Template: template, Log: log})
	if err != nil {
		return nil, err
	}
	s := &server{url: p.URL}
	cfg, err := pgxpool.ParseConfig(strings.Replace(p.URL, "/funnelwork?", "/postgres?", 1))
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = 4
	if s.admin, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	s.read = sync.OnceValues(func() (string, error) { return s.copied(ctx) })
	s.world, err = Look(ctx, p.URL)
	return s, err
}

// copied copies the server's database and returns the copy's name. A database with sessions cannot be copied, so the
// first one has none.
func (s *server) copied(ctx context.Context) (string, error) {
	name := fmt.Sprintf("t%d", s.next.Add(1))
	_, err := s.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE funnelwork STRATEGY FILE_COPY")
	return name, err
}

// Read returns the aged database of that size and state that the tests of this binary share. They must not change it.
func Read(t testing.TB, size Size, state State) *Database {
	t.Helper()
	s, err := serverOf(size, state)
	if err != nil {
		testkit.Unavailable(t, err)
	}
	name, err := s.read()
	if err != nil {
		t.Fatalf("aged: %v", err)
	}
	return open(t, s, name)
}

// Write returns a copy of the aged database, dropped when the test ends. The statistics are copied, too.
func Write(t testing.TB, size Size, state State) *Database {
	t.Helper()
	s, err := serverOf(size, state)
	if err != nil {
		testkit.Unavailable(t, err)
	}
	name, err := s.copied(t.Context())
	if err != nil {
		t.Fatalf("aged: %v", err)
	}
	t.Cleanup(func() {
		if _, err := s.admin.Exec(context.WithoutCancel(t.Context()),
			"DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("aged: %v", err)
		}
	})
	return open(t, s, name)
}

func open(t testing.TB, s *server, name string) *Database {
	t.Helper()
	d := &Database{World: s.world, Sent: &Sent{first: map[string]Statement{}}}
	d.URL = strings.Replace(s.url, "/funnelwork?", "/"+name+"?", 1)
	var err error
	if d.App, err = postgres.Open(t.Context(), postgres.Options{
		URL: d.URL, Role: postgres.App, MaxConns: 8, Name: "test", Tracer: d.Sent,
	}); err != nil {
		t.Fatalf("aged: %v", err)
	}
	t.Cleanup(d.App.Close)
	d.System = testkit.Open(t, d.URL, postgres.System)
	return d
}
