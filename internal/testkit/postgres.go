package testkit

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/funnelwork/funnelwork/internal/local"
)

// PostgresServer is a migrated private server that the test may stop and crash.
type PostgresServer struct {
	URL    string
	t      testing.TB
	opt    local.PostgresOptions
	data   string // data directory
	server *local.Postgres
}

// RealPostgres starts a PostgresServer. Without Postgres the test is skipped, or fails if CI=true.
func RealPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	return startPostgres(t, func(string) []string { return nil })
}

// startPostgres starts a server with the variables that env returns for its directory.
func startPostgres(t testing.TB, env func(home string) []string) *PostgresServer {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "fw-pg-") //nolint:usetesting // short enough for a socket in it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil { //nolint:gosec // the server's user passes through
		t.Fatal(err)
	}
	template, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	p := &PostgresServer{t: t, opt: local.PostgresOptions{Home: home, Fast: true, Template: template, Log: fetchLog()}}
	p.opt.Env = env(home)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	p.launch()
	p.URL = p.server.URL
	sql := Pgx(t, p.URL)
	// A commit must survive a crash of the processes, though not of the machine.
	if _, err := sql.Exec(t.Context(), "ALTER DATABASE funnelwork SET synchronous_commit = on"); err != nil {
		t.Fatal(err)
	}
	if err := sql.QueryRow(t.Context(), "SHOW data_directory").Scan(&p.data); err != nil {
		t.Fatal(err)
	}
	return p
}

// launch starts the server for the first time.
func (p *PostgresServer) launch() {
	p.t.Helper()
	var err error
	if p.server, err = local.StartPostgres(p.t.Context(), p.opt); err != nil {
		unavailable(p.t, err)
	}
	p.t.Cleanup(func() { _ = p.server.Stop(context.WithoutCancel(p.t.Context())) })
}

// Crash ends the server immediately, with its sessions and transactions. Start recovers it.
func (p *PostgresServer) Crash() {
	p.t.Helper()
	if err := p.server.Stop(p.t.Context()); err != nil { // QUIT, since Stop uses a fast shutdown
		p.t.Fatalf("testkit: postgres: %v", err)
	}
}

// Stop shuts the server down as an operator does: sessions are terminated with an error.
func (p *PostgresServer) Stop() {
	p.t.Helper()
	if err := syscall.Kill(p.pid(), syscall.SIGINT); err != nil {
		p.t.Fatalf("testkit: postgres: %v", err)
	}
	<-p.server.Done()
}

// pid returns the process id of the server.
func (p *PostgresServer) pid() int {
	p.t.Helper()
	lines, err := os.ReadFile(filepath.Join(p.data, "postmaster.pid"))
	if err != nil {
		p.t.Fatalf("testkit: postgres: %v", err)
	}
	first, _, _ := strings.Cut(string(lines), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		p.t.Fatalf("testkit: postgres: %v", err)
	}
	return pid
}

// Start starts the server again, with the same URL and contents.
func (p *PostgresServer) Start() {
	p.t.Helper()
	server, err := local.StartPostgres(p.t.Context(), p.opt)
	if err != nil {
		p.t.Fatalf("testkit: postgres: %v", err)
	}
	if p.server = server; server.URL != p.URL {
		p.t.Fatalf("testkit: postgres came back elsewhere")
	}
}
