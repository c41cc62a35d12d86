package aged

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/migrations"
)

// version is raised when the Go part of a build changes what it makes.
const version = 4

// kept returns the template of a database that is built once a day and schema. The template of each size and state has
// a directory of its own, so that nobody who needs another one waits for its lock.
func kept(size Size, state State) (*local.Template, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "funnelwork-test", "aged", size.Name+"-"+string(state))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, version, time.Now().UTC().Format(time.DateOnly), size, state)
	for _, source := range []fs.FS{migrations.Files, files} {
		err = errors.Join(err, fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(source, path)
			fmt.Fprintf(sum, "%s %d\n%s", path, len(b), b)
			return err
		}))
	}
	return &local.Template{
		Dir: dir, Key: hex.EncodeToString(sum.Sum(nil)[:8]),
		Prepare: func(ctx context.Context, url string) error { return Prepare(ctx, url, size, state) },
	}, err
}

// Prepare migrates and fills the empty database at url, and sets its server up for measurements.
func Prepare(ctx context.Context, url string, size Size, state State) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, sql := range []string{"ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := explain(ctx, conn); err != nil {
		return err
	}
	if err := migrations.Up(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	return Build(ctx, url, size, state, nil)
}
