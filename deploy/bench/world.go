package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/migrations"
)

// product is the module of the measured service. The bench's go.mod replaces it by the tree around it.
const product = "github.com/funnelwork/funnelwork"

// world is private servers, the built binary, and orgs with a key each. close removes all of it.
type world struct {
	dir      string
	binary   string
	postgres *local.Postgres
	redis    *local.Redis
	admin    *pgx.Conn // a superuser, without row policies
	orgs     []caller
	closers  []func()
}

// caller is an org's API key and one of its contacts.
type caller struct {
	org     id.ID
	key     string
	contact id.ID
}

func newWorld(ctx context.Context, log *slog.Logger, orgs int) (w *world, err error) {
	return newWorldOn(ctx, log, orgs, func(context.Context, *world) (*local.Postgres, error) {
		return local.StartPostgres(ctx, local.PostgresOptions{Log: log})
	})
}

// newWorldOn is newWorld with a Postgres that start starts.
func newWorldOn(ctx context.Context, log *slog.Logger, orgs int,
	start func(context.Context, *world) (*local.Postgres, error),
) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "funnelwork-bench-"); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = os.RemoveAll(w.dir) })
	if w.binary, err = build(ctx, w.dir); err != nil {
		return w, err
	}
	if w.postgres, err = start(ctx, w); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = w.postgres.Stop(context.WithoutCancel(ctx)) })
	if w.redis, err = local.StartRedis(ctx, local.RedisOptions{Log: log}); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = w.redis.Stop(context.WithoutCancel(ctx)) })
	if w.redis.InProcess {
		return w,
			errors.New("an installed redis-server is required: the in-process Redis is not suitable for benchmarks")
	}
	if err = migrations.Up(ctx, w.postgres.URL, log); err != nil {
		return w, err
	}
	if w.admin, err = pgx.Connect(ctx, w.postgres.URL); err != nil {
		return w, err
	}
	w.closers = append(w.closers, func() { _ = w.admin.Close(context.WithoutCancel(ctx)) })
	return w, w.populate(ctx, orgs)
}

// close undoes newWorld, in reverse order.
func (w *world) close() {
	for i := len(w.closers) - 1; i >= 0; i-- {
		w.closers[i]()
	}
}

func build(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", product).Output()
	if err != nil {
		return "", fmt.Errorf("find the product's module: %w", err)
	}
	binary := filepath.Join(dir, "funnelwork")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// populate inserts orgs with a member and a key each, as signups would, without password hashes.
func (w *world) populate(ctx context.Context, n int) error {
	orgs, keys := make([][]any, n), make([][]any, n)
	w.orgs = make([]caller, n)
	for i := range n {
		org := id.New()
		key, hash := auth.NewAPIKey(org)
		w.orgs[i] = caller{org: org, key: key}
		orgs[i] = []any{org, "bench " + strconv.Itoa(i)}
		keys[i] = []any{org, id.New(), "bench", "admin", key[len(key)-4:], hash, id.New()}
	}
	if _, err := w.admin.CopyFrom(ctx, pgx.Identifier{"org"}, []string{"id", "name"},
		pgx.CopyFromRows(orgs)); err != nil {
		return err
	}
	_, err := w.admin.CopyFrom(ctx, pgx.Identifier{"api_key"},
		[]string{"org_id", "id", "name", "role", "hint", "hash", "created_by"}, pgx.CopyFromRows(keys))
	return err
}

// process is a child process with one role.
type process struct {
	addr string // address of the API
	ops  string
	cmd  *exec.Cmd
	gone chan struct{}
}

// spawn runs a role of the binary on the world's servers. Its log is written to a file, as under a supervisor.
func (w *world) spawn(ctx context.Context, role string, settings ...string) (*process, error) {
	p := &process{addr: freeAddress(ctx), ops: freeAddress(ctx), gone: make(chan struct{})}
	home := filepath.Join(w.dir, "home")
	if err := makeKeyset(home); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(w.dir, role+".log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.CommandContext(ctx, w.binary, role)
	p.cmd.Env = append(os.Environ(),
		"DATABASE_URL="+w.postgres.URL, "REDIS_URL="+w.redis.URL, "FUNNELWORK_HOME="+home,
		"FUNNELWORK_ADDR="+p.addr, "FUNNELWORK_OPS_ADDR="+p.ops,
		"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_RATE_LIMIT=on", "FUNNELWORK_LOG_FORMAT=json",
		"FUNNELWORK_SIGNUP=on",
		"FUNNELWORK_LOG_LEVEL=info")
	p.cmd.Env = append(p.cmd.Env, settings...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = log, log, diesWithParent()
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.gone)
	}()
	w.closers = append(w.closers, p.stop)
	return p, nil
}

// start runs a role and waits until it is ready.
func (w *world) start(ctx context.Context, role string, settings ...string) (*process, error) {
	p, err := w.spawn(ctx, role, settings...)
	if err != nil {
		return nil, err
	}
	for {
		if ready(ctx, p.ops) {
			return p, nil
		}
		select {
		case <-p.gone:
			said, _ := os.ReadFile(filepath.Join(w.dir, role+".log"))
			return nil, fmt.Errorf("%s exited during startup: %s", role, bytes.TrimSpace(said))
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// makeKeyset makes the keyset of a home, which roles share and do not make themselves.
func makeKeyset(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	_, err := secret.Create(filepath.Join(home, "keyset.json"))
	return err
}

// stop ends the process and waits for it.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.gone:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

func ready(ctx context.Context, ops string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ops+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// freeAddress returns an address below the kernel's range of ports for outgoing connections: under load one of those
// could take it before the child listens.
func freeAddress(ctx context.Context) string {
	for {
		n, err := rand.Int(rand.Reader, big.NewInt(10_000))
		if err != nil {
			panic(err) // crypto/rand never fails
		}
		addr := "127.0.0.1:" + strconv.FormatInt(20_000+n.Int64(), 10)
		if l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
}

// forget deletes all jobs and all of Redis, so that the leftovers of a flood do not affect the next figure.
func (w *world) forget(ctx context.Context) error {
	if _, err := w.admin.Exec(ctx, "TRUNCATE job"); err != nil {
		return err
	}
	client, err := redisClient(w.redis.URL)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	return client.FlushAll(ctx).Err()
}
