// Package migrations holds the schema as numbered SQL files, one domain each, and brings a database up to it.
//
// Up only: a mistake is mended by a new file, and a landed file is never edited. The whole schema, as it
// stands after the last file, is kept for review in schema.golden.sql.
package migrations

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib" // goose speaks database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed *.sql
var files embed.FS

// Up brings the database at url to the newest version. Any number of processes may call it at once: they
// queue behind goose's table lock, which, unlike a session lock, also holds behind a transaction pooler.
func Up(ctx context.Context, url string, log *slog.Logger) error {
	return with(url, func(p *goose.Provider) error {
		done, err := p.Up(ctx)
		for _, r := range done {
			log.InfoContext(ctx, "migration applied", "file", r.Source.Path, "took", r.Duration)
		}
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		return nil
	})
}

// Pending tells whether the database lacks files that this binary has. Readiness asks it.
func Pending(ctx context.Context, url string) (bool, error) {
	var pending bool
	err := with(url, func(p *goose.Provider) (err error) {
		pending, err = p.HasPending(ctx)
		return err
	})
	return pending, err
}

// Await waits until the database lacks nothing, or ctx ends, and says once what it waits for.
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
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // a statement with a name would not survive a transaction pooler
	db := stdlib.OpenDB(*cfg)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLeaseDuration(10*time.Second), lock.WithTableHeartbeatInterval(3*time.Second), lock.WithTableLockTimeout(time.Second, 60))
	if err != nil {
		return fmt.Errorf("migration lock: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return do(p)
}
