package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/funnelwork/funnelwork/internal/local/debian"
)

// Source is where the program of a private server comes from.
type Source string

// The sources, in the order in which they are tried.
const (
	Installed Source = "installed"
	Packages  Source = "the distribution's packages"
	Maven     Source = "Maven"
	InProcess Source = "in-process" // Redis alone
)

// errNotGiven is the reason why an installed server is used.
var errNotGiven = errors.New("no address is given")

// findBinaries returns the binaries of the given major version or, if that is 0, of any that will do, and logs which:
// installed ones, those that an earlier start fetched, the distribution's packages, or Maven's. Earlier releases kept
// Maven's in old; "" if there is no such directory.
func (o PostgresOptions) findBinaries(ctx context.Context, old string, major int) (binaries,
	error,
) {
	patterns := o.Places
	if patterns == nil {
		patterns = installPatterns()
	}

	if b, ok := findInstalled(ctx, patterns, major); ok {
		o.logBinaries(ctx, b, errNotGiven)
		return b, nil
	}

	none := fmt.Errorf("no Postgres %s is installed", wantedVersions(major))
	dir, err := packagesDir(o.Home)
	if err != nil {
		return binaries{}, missingPostgres(major, err)
	}

	if b, ok := fetchedPostgres(ctx, dir, old, major); ok {
		o.logBinaries(ctx, b, none)
		return b, nil
	}

	return o.fetchBinaries(ctx, dir, major, none)
}

// logBinaries logs which binaries are used, and why not those of an earlier source.
func (o PostgresOptions) logBinaries(ctx context.Context, b binaries, reason error) {
	o.Log.InfoContext(ctx, "using Postgres", "source", b.source, "version", b.version, "directory", b.dir,
		"reason", reason)
}

// fetchedPostgres returns the binaries that an earlier start has fetched into dir or, as earlier releases did, into
// old.
func fetchedPostgres(ctx context.Context, dir, old string, major int) (binaries, bool) {
	var best binaries
	for _, tree := range debian.Trees(dir, "postgresql-") {
		libs := tree.Libraries()
		for _, bin := range tree.Glob("usr/lib/postgresql/*/bin") {
			if b, ok := inspectBinaries(ctx, bin, libs); ok && b.major > best.major &&
				b.fitsMajor(major) {
				best, best.source = b, Packages
			}
		}
	}

	for _, at := range []string{dir, old} {
		if at == "" || best.dir != "" {
			continue
		}
		if b, ok := inspectBinaries(ctx, filepath.Join(at, downloaded, "bin"), ""); ok &&
			b.fitsMajor(major) {
			best, best.source = b, Maven
		}
	}

	return best, best.dir != ""
}

// fetchBinaries fetches binaries into dir. none is why there are no installed ones.
func (o PostgresOptions) fetchBinaries(ctx context.Context, dir string, major int,
	none error,
) (binaries, error) {
	if o.Repository == "none" {
		return binaries{}, missingPostgres(major)
	}

	_, noPackage := debian.Store{Dir: dir, Log: o.Log}.Postgres(ctx, oldest, major)
	if noPackage == nil {
		if b, ok := fetchedPostgres(ctx, dir, dir, major); ok {
			o.logBinaries(ctx, b, none)
			return b, nil
		}
		noPackage = errors.New("the unpacked Postgres does not run")
	}

	if ctx.Err() != nil {
		return binaries{}, ctx.Err()
	}

	noPackage = fmt.Errorf("the distribution's packages: %w", noPackage)
	if major != 0 && major != releaseMajor {
		return binaries{}, missingPostgres(major, noPackage,
			fmt.Errorf("binaries from Maven: the data needs version %d", major))
	}

	b, err := downloadBinaries(ctx, dir, o.Repository, o.Log)
	if ctx.Err() != nil {
		return binaries{}, ctx.Err()
	}

	if err != nil {
		return binaries{}, missingPostgres(major, noPackage,
			fmt.Errorf("binaries from Maven: %w", err))
	}

	b.source = Maven
	o.logBinaries(ctx, b, noPackage)

	return b, nil
}

// packagesDir returns the directory of the programs fetched for home or, without one, for this user. Every user may
// enter it if this process is root, whose servers run under another user; only root may write to it. If that user
// cannot reach the home, the directory is elsewhere, with a pointer `packages.at` in the home.
func packagesDir(home string) (string, error) {
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}

		home = filepath.Join(cache, "funnelwork")
		if err := os.MkdirAll(home, 0o700); err != nil {
			return "", err
		}
	}

	inside, err := filepath.Abs(filepath.Join(home, "packages"))
	if err != nil {
		return "", err
	}

	if os.Geteuid() != 0 {
		return inside, os.MkdirAll(inside, 0o700)
	}

	if at, err := os.ReadFile(inside + ".at"); err == nil {
		dir := strings.TrimSpace(string(at))
		if u, err := ownerOf(dir); err == nil && u.uid == 0 {
			return dir, nil
		}
	}

	if isReachable(home) {
		//nolint:gosec // the servers' user runs programs from it
		return inside, errors.Join(os.MkdirAll(inside, 0o755), os.Chmod(inside, 0o755))
	}

	dir, err := makeDir("/var/lib", nil)
	if err != nil {
		dir, err = makeDir("/tmp", nil)
	}

	if err != nil {
		return "", err
	}

	//nolint:gosec // as above
	return dir, errors.Join(os.Chmod(dir, 0o755), os.WriteFile(inside+".at", []byte(dir+"\n"), 0o600))
}
