package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// oldest is the first Postgres that the product runs on.
const oldest = 15

// places are where packages put Postgres; PATH comes first.
func places() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",                            // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                     // RPM of the Postgres project
		"/usr/libexec/postgresql*", "/usr/lib/postgresql*/bin", // Alpine, SUSE
		"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin", "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/opt/local/lib/postgresql*/bin", // MacPorts
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	}
}

// binaries is one installed Postgres.
type binaries struct {
	dir     string
	version string // as it says itself, without a distribution's additions: "15.14"
	major   int
}

func (b binaries) tool(name string) string { return filepath.Join(b.dir, name) }

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[.\w]*)`)

// find looks for Postgres in PATH and then where patterns point, and takes the newest from `oldest` on, or
// the newest of just that major version where one is asked for (not 0). It needs both postgres and initdb.
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

// inspect asks the postgres in dir for its version.
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
