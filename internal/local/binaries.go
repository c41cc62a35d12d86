package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/local/debian"
)

// oldest is the oldest supported version of Postgres.
const oldest = 15

// ErrNoPostgres means that no Postgres that will do is installed, and that none was fetched.
var ErrNoPostgres = errors.New("no Postgres that will do is installed")

// wantedVersions returns the versions that will do, in words. major is the version that the data directory needs; 0 if
// any will do.
func wantedVersions(major int) string {
	if major == 0 {
		return strconv.Itoa(oldest) + " or later"
	}
	return strconv.Itoa(major)
}

// missingPostgres returns an ErrNoPostgres that says how to get one. reasons say why each way to fetch one failed; none
// if none was tried.
func missingPostgres(major int, reasons ...error) error {
	var why strings.Builder
	for _, reason := range reasons {
		if why.Len() > 0 {
			why.WriteString("; ")
		}
		why.WriteString(reason.Error())
	}

	text := "no Postgres " + wantedVersions(major) + " is installed"
	command := installCommand(major)
	if errors.Is(errors.Join(reasons...), debian.ErrTooOld) {
		command = "Install it"
	}
	if why.Len() > 0 {
		text += " (" + why.String() + ")"
	}

	return noPostgresError(fmt.Sprintf("%s. %s, or give DATABASE_URL, "+
		"or set FUNNELWORK_POSTGRES_REPOSITORY to a mirror of %s", text, command, Repository))
}

// installCommand returns the command that installs Postgres on this machine.
func installCommand(major int) string {
	version := strconv.Itoa(cmp.Or(major, releaseMajor))
	dpkg := "postgresql"
	if major != 0 {
		dpkg += "-" + version
	}

	for _, one := range []struct{ tool, command string }{
		{"apt-get", "apt-get install " + dpkg},
		{"brew", "brew install postgresql@" + version},
		{"dnf", "dnf install postgresql-server"},
		{"apk", "apk add postgresql" + version},
		{"zypper", "zypper install postgresql" + version + "-server"},
	} {
		if _, err := exec.LookPath(one.tool); err == nil {
			return "Run `" + one.command + "`"
		}
	}

	return "Install it"
}

// noPostgresError is the text of an ErrNoPostgres.
type noPostgresError string

func (n noPostgresError) Error() string { return string(n) }

func (noPostgresError) Is(target error) bool { return target == ErrNoPostgres }

// installPatterns are where packages put Postgres; PATH comes first.
func installPatterns() []string {
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
	libs    string // LD_LIBRARY_PATH of the distribution's packages, else ""
	source  Source
}

func (b binaries) toolPath(name string) string { return filepath.Join(b.dir, name) }

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[.\w]*)`)

// findInstalled searches PATH and then patterns for Postgres. It returns the newest version from `oldest` on, or of the
// given major version if that is not 0. An installation needs both postgres and initdb.
func findInstalled(ctx context.Context, patterns []string, major int) (binaries, bool) {
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
		b, ok := inspectBinaries(ctx, dir, "")
		if ok && b.major > best.major && b.fitsMajor(major) {
			best = b
		}
	}

	return best, best.dir != ""
}

// fitsMajor reports whether b has the given major version or, if that is 0, one from `oldest` on.
func (b binaries) fitsMajor(major int) bool {
	return b.major >= oldest && (major == 0 || b.major == major)
}

// inspectBinaries runs the postgres in dir for its version, with libs as serverEnv has it.
func inspectBinaries(ctx context.Context, dir, libs string) (binaries, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return binaries{}, false
	}

	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version")
	cmd.Env = serverEnv(libs)
	out, err := cmd.Output()
	m := versionLine.FindSubmatch(out)
	if err != nil || m == nil {
		return binaries{}, false
	}

	n, _ := strconv.Atoi(string(m[2]))

	return binaries{dir: dir, version: string(m[1]), major: n, libs: libs, source: Installed}, true
}
