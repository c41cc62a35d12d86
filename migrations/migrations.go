// Package migrations holds the schema as numbered SQL files, one per domain, and migrates a database to it.
//
// Migrations only go up: a new file fixes a mistake, and a released file is never edited. schema.golden.sql contains
// the whole schema after the last file, for review.
package migrations

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib" // goose uses database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Files are the migrations.
//
//go:embed *.sql *.indexes
var Files embed.FS

// Up migrates the database at url to the newest version. It is safe to call from any number of processes at once: they
// queue behind goose's table lock, which, unlike a session lock, also works behind a transaction pooler.
// If it applies migrations, it logs one line about them.
func Up(ctx context.Context, url string, log *slog.Logger) error {
	if err := makeRoles(ctx, url); err != nil {
		return fmt.Errorf("migrate: make roles: %w", err)
	}
	return with(url, func(p *goose.Provider) error {
		done, err := p.Up(ctx)
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		var took time.Duration
		for _, r := range done {
			took += r.Duration
			log.DebugContext(ctx, "migration applied", "file", r.Source.Path, "took", r.Duration)
		}
		if n := len(done); n > 0 {
			log.InfoContext(ctx, "schema migrated", "files", n, "version", done[n-1].Source.Version, "took", took)
		}
		return nil
	})
}

// Pending reports whether the database lacks migrations of this binary. The readiness check uses it.
func Pending(ctx context.Context, url string) (bool, error) {
	var pending bool
	err := with(url, func(p *goose.Provider) (err error) {
		pending, err = p.HasPending(ctx)
		return err
	})
	return pending, err
}

// Newest returns the number of the newest migration of this binary.
func Newest() (newest int64, err error) {
	entries, err := fs.ReadDir(Files, ".")
	if err != nil {
		return 0, fmt.Errorf("list migrations: %w", err)
	}
	for _, entry := range entries {
		stem := strings.TrimSuffix(entry.Name(), path.Ext(entry.Name()))
		if !strings.Contains(stem, "_") {
			continue // the schema as a whole
		}
		number, err := goose.NumericComponent(stem + ".sql")
		if err != nil {
			return 0, fmt.Errorf("list migrations: %w", err)
		}
		newest = max(newest, number)
	}
	return newest, nil
}

// Await waits until the database has all migrations or ctx ends. It logs once that it waits.
func Await(ctx context.Context, url string, log *slog.Logger) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for said := false; ; said = true {
		pending, err := Pending(ctx, url)
		if err != nil || !pending {
			return err
		}
		if !said {
			log.WarnContext(ctx, "waiting for the schema of this version: run `funnelwork migrate`")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func with(url string, do func(*goose.Provider) error) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read DATABASE_URL: %w", err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // a prepared statement would not survive a transaction pooler
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLeaseDuration(10*time.Second),
		lock.WithTableHeartbeatInterval(3*time.Second), lock.WithTableLockTimeout(time.Second, 60))
	if err != nil {
		return fmt.Errorf("migration lock: %w", err)
	}
	indexes, err := indexMigrations()
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, Files, goose.WithLocker(locker),
		goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(indexes...))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return do(p)
}
