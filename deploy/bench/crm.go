package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/migrations"
)

// crmWorld is the version of what crm_build.go builds. A stored world with another version is rebuilt.
const crmWorld = 1

// The orgs of the world: one with a million contacts, and many small ones.
const (
	crmContacts       = 1_000_000
	crmOthers         = 199
	crmOthersContacts = 500
)

// crm is the environment of the benchmarks about contacts: servers, the binary, and the orgs with a key each. The first
// org is the big one. Each section must leave it unchanged.
type crm struct {
	*world
	big      caller
	contacts int // contacts of the big org
	api      *process
}

// crmSections are the sections of the benchmark, in the order in which they run.
var crmSections = []struct {
	name string
	run  func(context.Context, *crm) error
}{
	{"list", crmLists},
	{"segments", crmSegments},
	{"import", crmImports},
	{"bulk", crmBulk},
	{"rescore", crmRescore},
}

// crmBench opens the world and runs the named sections, or all if there are no names. n is the size of the big org.
func crmBench(ctx context.Context, log *slog.Logger, n int, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(crmSections, func(s struct {
			name string
			run  func(context.Context, *crm) error
		},
		) bool {
			return s.name == name
		}) {
			return fmt.Errorf("crm has no section %q", name)
		}
	}
	c, err := openCRM(ctx, log, n)
	if err != nil {
		return err
	}
	defer c.close()
	for _, s := range crmSections {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		fmt.Printf("\n== %s\n", s.name)
		if err := s.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// crmHome returns the directory of the world with that size.
func crmHome(n int) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if n == crmContacts {
		return filepath.Join(cache, "funnelwork", "bench-crm"), nil
	}
	return filepath.Join(cache, "funnelwork", fmt.Sprintf("bench-crm-%d", n)), nil
}

// openCRM starts the stored world. It builds the world first if there is none or its version differs.
func openCRM(ctx context.Context, log *slog.Logger, n int) (c *crm, err error) {
	c = &crm{world: &world{}, contacts: n}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	home, err := crmHome(n)
	if err != nil {
		return c, err
	}
	if c.dir, err = os.MkdirTemp("", "funnelwork-bench-"); err != nil {
		return c, err
	}
	c.closers = append(c.closers, func() { _ = os.RemoveAll(c.dir) })
	if c.binary, err = build(ctx, c.dir); err != nil {
		return c, err
	}
	if err = c.openData(ctx, log, home); errors.Is(err, errOtherWorld) {
		fmt.Fprintf(os.Stderr, "the world in %s is of another making: building it anew\n", home)
		c.postgres, c.closers = nil, c.closers[:1]
		if err = os.RemoveAll(home); err == nil {
			err = c.openData(ctx, log, home)
		}
	}
	if err != nil {
		return c, err
	}
	if c.redis, err = local.StartRedis(ctx, local.RedisOptions{Log: log}); err != nil {
		return c, err
	}
	c.closers = append(c.closers, func() { _ = c.redis.Stop(context.WithoutCancel(ctx)) })
	if c.redis.InProcess {
		return c,
			errors.New("an installed redis-server is required: the in-process Redis is not suitable for benchmarks")
	}
	if err = c.keys(ctx); err != nil {
		return c, err
	}
	if err = c.indexWords(ctx); err != nil {
		return c, err
	}
	c.api, err = c.start(ctx, "api", "FUNNELWORK_RATE_LIMIT=off")
	return c, err
}

var errOtherWorld = errors.New("the stored data set was built by another version")

// openData starts Postgres in home and fills an empty database.
func (c *crm) openData(ctx context.Context, log *slog.Logger, home string) (err error) {
	if err := os.MkdirAll(home, 0o711); err != nil { //nolint:gosec // the server's user passes through
		return err
	}
	fmt.Fprintf(os.Stderr, "%d contacts in one org among %d, kept in %s (delete it to be rid of it)\n", c.contacts,
		1+crmOthers, home)
	if c.postgres, err = local.StartPostgres(ctx, local.PostgresOptions{Home: home, Log: log}); err != nil {
		return err
	}
	server := c.postgres
	c.closers = append(c.closers, func() { _ = server.Stop(context.WithoutCancel(ctx)) })
	if c.admin, err = pgx.Connect(ctx, server.URL); err != nil {
		return err
	}
	admin := c.admin
	c.closers = append(c.closers, func() { _ = admin.Close(context.WithoutCancel(ctx)) })
	var begun, done bool
	if err := c.admin.QueryRow(ctx,
		"SELECT to_regclass('bench_org') IS NOT NULL, to_regclass('bench_world') IS NOT NULL").
		Scan(&begun, &done); err != nil {
		return err
	}
	made := 0
	if done {
		if err := c.admin.QueryRow(ctx, "SELECT COALESCE(max(made), 0) FROM bench_world").Scan(&made); err != nil {
			return err
		}
	}
	if begun && made != crmWorld {
		_ = admin.Close(ctx)
		if err := server.Stop(ctx); err != nil {
			return err
		}
		return errOtherWorld
	}
	if err := migrations.Up(ctx, server.URL, log); err != nil {
		if !done || ctx.Err() != nil {
			return err
		}
		// Either a migration file is older than the world's schema, or the world has one that is unknown here.
		_ = admin.Close(ctx)
		return errors.Join(errOtherWorld, err, server.Stop(ctx))
	}
	if done {
		return nil
	}
	began := time.Now()
	if err := buildCRM(ctx, c.admin, c.contacts); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "built in %s\n", time.Since(began).Round(time.Second))
	return nil
}

// keys creates an API key for each org.
func (c *crm) keys(ctx context.Context) error {
	rows, err := c.admin.Query(ctx, "SELECT id, big FROM bench_org ORDER BY NOT big, id")
	if err != nil {
		return err
	}
	var (
		org  id.ID
		big  bool
		keys [][]any
	)
	if _, err := pgx.ForEachRow(rows, []any{&org, &big}, func() error {
		key, hash := auth.NewAPIKey(org)
		c.orgs = append(c.orgs, caller{org: org, key: key})
		keys = append(keys, []any{org, id.New(), "bench", "admin", key[len(key)-4:], hash, id.New()})
		return nil
	}); err != nil {
		return err
	}
	c.big = c.orgs[0]
	if _, err := c.admin.Exec(ctx, "DELETE FROM api_key WHERE name = 'bench'"); err != nil {
		return err
	}
	_, err = c.admin.CopyFrom(ctx, pgx.Identifier{"api_key"},
		[]string{"org_id", "id", "name", "role", "hint", "hash", "created_by"}, pgx.CopyFromRows(keys))
	return err
}

// crmArgs parses "crm", "crm=list,import" and, for a small trial, "crm=list,contacts:20000".
func crmArgs(arg string) (n int, names []string, err error) {
	n = crmContacts
	if arg == "" {
		return n, nil, nil
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(arg, "="), ",") {
		if size, ok := strings.CutPrefix(name, "contacts:"); ok {
			if _, err := fmt.Sscan(size, &n); err != nil || n < 10_000 {
				return 0, nil, errUsage
			}
			continue
		}
		names = append(names, name)
	}
	return n, names, nil
}
