package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// Repository is the source of binaries unless a setting names a mirror.
const Repository = "https://repo1.maven.org/maven2"

// release is the downloaded Postgres, and releaseMajor its major version.
const (
	release      = embedded.V17
	releaseMajor = 17
)

// reachTime is how long the repository may take to reply at all.
const reachTime = 5 * time.Second

// checkRepository returns the repository's URL without a password, or an error if no server replies there. The library
// would wait for one for minutes.
func checkRepository(ctx context.Context, repository string) (shown string, err error) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodHead, strings.TrimSuffix(repository, "/")+"/", nil)
	if err != nil {
		return "", errors.New("FUNNELWORK_POSTGRES_REPOSITORY is not a URL")
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok { // whose text has the URL, with its login
			err = failed.Err
		}
		return "", fmt.Errorf("%s cannot be reached: %w", req.URL.Redacted(), err)
	}

	return req.URL.Redacted(), res.Body.Close()
}

// downloaded is the directory of the downloaded Postgres.
const downloaded = "postgres-" + string(release)

// downloadBinaries fetches Postgres into dir/postgres-<version>, for every user to run. An interrupted download leaves
// nothing that a later one would take for whole.
//
// The library downloads only on the way to a start of its own, which knows neither our users nor our supervision. That
// start fails right after the unpacking, because its data directory is below a file.
func downloadBinaries(ctx context.Context, dir, repository string, log *slog.Logger) (binaries,
	error,
) {
	if repository == "" {
		repository = Repository
	}

	final := filepath.Join(dir, downloaded)
	from, err := checkRepository(ctx, repository)
	if err != nil {
		return binaries{}, err
	}

	log.InfoContext(ctx, "downloading Postgres", "version", string(release), "from", from)
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
	library := embedded.NewDatabase(
		embedded.DefaultConfig().Version(release).BinaryRepositoryURL(strings.TrimSuffix(repository, "/")).
			CachePath(filepath.Join(part, "archive")).BinariesPath(unpacked).
			RuntimePath(filepath.Join(part, "runtime")).
			DataPath(filepath.Join(wall, "data")).Port(uint32(port)).Logger(io.Discard))
	err = startBounded(ctx, library, log)
	removeLog()
	runtime.KeepAlive(library) // keeps its open log alive
	if _, ok := inspectBinaries(ctx, filepath.Join(unpacked, "bin"), ""); !ok {
		return binaries{}, fmt.Errorf("the download from %s failed: %w", from, err)
	}

	if err := makeReadable(unpacked); err != nil {
		return binaries{}, err
	}

	if err := os.RemoveAll(final); err != nil {
		return binaries{}, err
	}

	if err := os.Rename(unpacked, final); err != nil {
		return binaries{}, err
	}

	b, _ := inspectBinaries(ctx, filepath.Join(final, "bin"), "")

	return b, nil
}

// downloadLimit bounds the library's download.
const downloadLimit = 10 * time.Minute

// startBounded starts the library, which takes no context, and returns early if ctx ends or the limit is over. The
// library then goes on until its request fails or the process ends.
func startBounded(ctx context.Context, library *embedded.EmbeddedPostgres, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, downloadLimit)
	defer cancel()

	done := make(chan error, 1)
	go func() { done <- library.Start() }()
	begin := time.Now()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()

	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			log.InfoContext(ctx, "downloading Postgres", "seconds", int(time.Since(begin).Seconds()))
		}
	}
}

// makeReadable lets every user read the files below dir, and run those that the owner may run.
func makeReadable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}

		fi, err := d.Info()
		if err != nil {
			return err
		}

		mode := fi.Mode().Perm() | 0o444
		if mode&0o100 != 0 {
			mode |= 0o111
		}

		return os.Chmod(path, mode) //nolint:gosec // a directory of this process's own
	})
}

// removeLog removes the empty log that the library creates in the temporary directory and leaves open. Its name is
// known only from the open files, which only Linux lists; elsewhere the file stays.
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
