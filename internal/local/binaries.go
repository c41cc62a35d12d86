package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// oldest is the oldest supported version of Postgres.
const oldest = 15

// ErrNoPostgres means that no Postgres that will do is installed, and that none was downloaded.
var ErrNoPostgres = errors.New("no Postgres that will do is installed")

// missing returns an ErrNoPostgres that says how to get one. major is the version that the data directory needs; 0 if
// any will do. cause says why none was downloaded; nil if none was to be.
func missing(major int, cause error) error {
	version, debian, brew := strconv.Itoa(oldest)+" or later", "postgresql", "postgresql@"+strconv.Itoa(releaseMajor)
	if major != 0 {
		version = strconv.Itoa(major)
		debian, brew = "postgresql-"+version, "postgresql@"+version
	}
	why := ""
	if cause != nil {
		why = " (" + cause.Error() + ")"
	}
	return noPostgresError(fmt.Sprintf("no Postgres %s is installed%s. Install it (Debian, Ubuntu: apt install %s; "+
		"macOS: brew install %s), or give DATABASE_URL, or set FUNNELWORK_POSTGRES_REPOSITORY to a mirror of %s",
		version, why, debian, brew, Repository))
}

// noPostgresError is the text of an ErrNoPostgres.
type noPostgresError string

func (n noPostgresError) Error() string { return string(n) }

func (noPostgresError) Is(target error) bool { return target == ErrNoPostgres }

// places are where packages put Postgres; PATH comes first.
func places() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",                            // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                     // RPM of the Postgres project
		"/usr/libexec/postgresql*", "/usr/lib/postgresql*/bin", // Alpine, SUSE
		"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/opt/local/lib/postgresql*/bin", // MacPorts
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	}
}

// binaries is one Postgres installation.
type binaries struct {
	dir     string
	version string // as it reports it, without a distribution's suffix: "15.14"
	major   int
}

func (b binaries) tool(name string) string { return filepath.Join(b.dir, name) }

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[.\w]*)`)

// find searches PATH and then patterns for Postgres. It returns the newest version from `oldest` on, or of the given
// major version if that is not 0. An installation needs both postgres and initdb.
func find(ctx context.Context, patterns []string, major int) (binaries, bool) {
	var dirs []string
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	var best binaries
	for _, dir := range dirs {
		b, ok := inspect(ctx, dir)
		if ok && b.major > best.major && b.major >= oldest && (major == 0 || b.major == major) {
			best = b
		}
	}
	return best, best.dir != ""
}

// inspect runs the postgres in dir for its version.
func inspect(ctx context.Context, dir string) (binaries, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return binaries{}, false
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	m := versionLine.FindSubmatch(out)
	if err != nil || m == nil {
		return binaries{}, false
	}
	n, _ := strconv.Atoi(string(m[2]))
	return binaries{dir: dir, version: string(m[1]), major: n}, true
}
