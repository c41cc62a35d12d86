package local

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// Repository is where binaries come from unless a setting names a mirror.
const Repository = "https://repo1.maven.org/maven2"

// release is the downloaded Postgres.
const release = embedded.V17

// download fetches Postgres into dir/postgres-<version>, once, and gives it to u. An interrupted download
// leaves nothing that a later one would take for whole.
//
// The library downloads only on the way to a start of its own, which knows neither our users nor our
// supervision. So that start is led into a wall right behind the unpacking: a data directory below a file.
func download(ctx context.Context, dir, repository string, u *owner, log *slog.Logger) (binaries, error) {
	if repository == "" {
		repository = Repository
	}
	final := filepath.Join(dir, "postgres-"+string(release))
	if b, ok := inspect(ctx, filepath.Join(final, "bin")); ok {
		return b, nil
	}
	log.InfoContext(ctx, "no installed Postgres found: downloading one", "version", string(release), "from", repository)
	part := final + ".part"
	if err := os.RemoveAll(part); err != nil {
		return binaries{}, err
	}
	defer func() { _ = os.RemoveAll(part) }()
	if err := os.MkdirAll(part, 0o755); err != nil { //nolint:gosec // programs, for another user too
		return binaries{}, err
	}
	wall := filepath.Join(part, "wall")
	if err := os.WriteFile(wall, nil, 0o600); err != nil {
		return binaries{}, err
	}
	port, err := freePort()
	if err != nil {
		return binaries{}, err
	}
	unpacked := filepath.Join(part, "unpacked")
	library := embedded.NewDatabase(embedded.DefaultConfig().Version(release).BinaryRepositoryURL(strings.TrimSuffix(repository, "/")).
		CachePath(filepath.Join(part, "archive")).BinariesPath(unpacked).RuntimePath(filepath.Join(part, "runtime")).
		DataPath(filepath.Join(wall, "data")).Port(uint32(port)).Logger(io.Discard))
	err = library.Start()
	removeLog()
	runtime.KeepAlive(library) // and with it the open log
	if _, ok := inspect(ctx, filepath.Join(unpacked, "bin")); !ok {
		return binaries{}, fmt.Errorf("no Postgres %d or later is installed and none could be downloaded: %w (install one, or give DATABASE_URL)", oldest, err)
	}
	if u != nil {
		err := filepath.WalkDir(unpacked, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, u.uid, u.gid) //nolint:gosec // nobody else may enter the directory
		})
		if err != nil {
			return binaries{}, err
		}
	}
	if err := os.RemoveAll(final); err != nil {
		return binaries{}, err
	}
	if err := os.Rename(unpacked, final); err != nil {
		return binaries{}, err
	}
	b, _ := inspect(ctx, filepath.Join(final, "bin"))
	return b, nil
}

// removeLog removes the empty log that the library makes in the temporary directory and leaves there, open. The
// name is told by the open files alone, which only Linux lists; elsewhere the file stays.
func removeLog() {
	const open = "/proc/self/fd"
	files, err := os.ReadDir(open)
	if err != nil {
		return
	}
	for _, f := range files {
		at, err := os.Readlink(filepath.Join(open, f.Name()))
		if err == nil && strings.HasPrefix(filepath.Base(at), "embedded_postgres_log") {
			_ = os.Remove(at)
		}
	}
}
