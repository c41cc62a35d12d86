package local_test

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// repository serves the installed Postgres as the public repository does: a jar with a tar.xz.
func repository(t *testing.T) (*httptest.Server, *[]string) {
	t.Helper()
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("needs xz to make an archive")
	}
	conn := testkit.Pgx(t, testkit.DB(t).URL)
	var bin string
	if err := conn.QueryRow(t.Context(), "SELECT setting FROM pg_config WHERE name = 'BINDIR'").Scan(&bin); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "postgres.txz")
	tar := exec.CommandContext(t.Context(), "tar", "-chJf", archive, "-C", filepath.Dir(bin), "bin/postgres",
		"bin/initdb", "bin/pg_ctl", "lib/dict_snowball.so", "lib/plpgsql.so")
	tar.Env = append(os.Environ(), "XZ_OPT=-0")
	if out, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	asked := new([]string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		if !strings.HasSuffix(r.URL.Path, ".jar") {
			http.NotFound(w, r)
			return
		}
		z := zip.NewWriter(w)
		f, err := z.Create("postgres-linux.txz")
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil || z.Close() != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv, asked
}

func TestWithoutInstalledBinariesTheyAreDownloadedOnce(t *testing.T) {
	srv, asked := repository(t)
	noLogLeft(t)
	withoutPackages(t)
	t.Setenv("PATH", pathWithoutPostgres(t))
	home := filepath.Join(reachableDir(t), "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for range 2 {
		p, err := local.StartPostgres(t.Context(), local.PostgresOptions{
			Home: home, Repository: srv.URL, Places: []string{}, Log: logTo(&lines),
		})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(t.Context(), p.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close(t.Context())
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	jars := 0
	for _, path := range *asked {
		if strings.HasSuffix(path, ".jar") {
			jars++
		}
	}
	if jars != 1 || strings.Count(lines.String(), `msg="downloading Postgres" version=`) != 1 ||
		strings.Count(lines.String(), `msg="using Postgres" source=Maven`) != 2 ||
		!strings.Contains(lines.String(), "apt-get: Unable to locate package postgresql") &&
			!strings.Contains(lines.String(), "have no package postgresql") &&
			!strings.Contains(lines.String(), "this machine has no apt-get") {
		t.Errorf("%d downloads, said:\n%s", jars, lines.String())
	}
}

func TestADownloadThatFailsSaysWhatToDo(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	noLogLeft(t)
	withoutPackages(t)
	t.Setenv("PATH", pathWithoutPostgres(t))
	_, err := local.StartPostgres(t.Context(),
		local.PostgresOptions{Home: reachableDir(t), Repository: srv.URL, Places: []string{}, Log: testkit.Log(t)})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "give DATABASE_URL") {
		t.Errorf("error %v, want one line with %q", err, "give DATABASE_URL")
	}
}

func TestADownloadThatHangsEndsWithTheStart(t *testing.T) {
	withoutPackages(t)
	t.Setenv("PATH", pathWithoutPostgres(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".jar") {
			cancel()
			<-t.Context().Done()
		}
	}))
	t.Cleanup(srv.Close) // after the end of t.Context
	_, err := local.StartPostgres(ctx,
		local.PostgresOptions{Home: reachableDir(t), Repository: srv.URL, Places: []string{}, Log: testkit.Log(t)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestAMissingPostgresIsReportedBeforeAnythingIsMadeOrAwaited(t *testing.T) {
	withoutPackages(t)
	with := func(tools ...string) string { return toolsAlone(t, tools...) }
	const rest = ", or give DATABASE_URL, or set FUNNELWORK_POSTGRES_REPOSITORY to a mirror of " +
		"https://repo1.maven.org/maven2"
	const mirror = "http://mirror:hunter2@127.0.0.1:1/maven"
	const away = "binaries from Maven: http://mirror:xxxxx@127.0.0.1:1/maven/ cannot be reached: " +
		"dial tcp 127.0.0.1:1: connect: connection refused"
	for name, c := range map[string]struct{ path, repository, want string }{
		"no download is allowed": {with(), "none", "no Postgres 15 or later is installed. Install it" + rest},
		"no apt, and the repository cannot be reached": {
			with(), mirror, "no Postgres 15 or later is installed (the distribution's packages: this machine has no " +
				"apt-get; " + away + "). Install it" + rest,
		},
		"macOS": {
			with("brew"), "none", "no Postgres 15 or later is installed. Run `brew install postgresql@17`" + rest,
		},
		"Debian without its package tools": {
			with("apt-get"), mirror, "no Postgres 15 or later is installed (the distribution's packages: this " +
				"machine has no apt-cache; " + away + "). Run `apt-get install postgresql`" + rest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			home := reachableDir(t)
			_, err := local.StartPostgres(t.Context(), local.PostgresOptions{
				Home: home, Repository: c.repository, Places: []string{}, Log: testkit.Log(t),
			})
			if !errors.Is(err, local.ErrNoPostgres) || err.Error() != "private Postgres: "+c.want {
				t.Errorf("err = %v, want %s", err, c.want)
			}
			if data, _ := filepath.Glob(filepath.Join(home, "postgres", "*")); len(data) > 0 {
				t.Errorf("made %v", data)
			}
		})
	}
}

func TestPackagesWithoutPostgresLeadToTheRepository(t *testing.T) {
	needApt(t)
	withoutPackages(t)
	t.Setenv("PATH", pathWithoutPostgres(t))
	_, err := local.StartPostgres(t.Context(), local.PostgresOptions{
		Home: reachableDir(t), Repository: "http://127.0.0.1:1", Places: []string{}, Log: testkit.Log(t),
	})
	const want = "(the distribution's packages: the package sources of this machine have no package postgresql; " +
		"binaries from Maven: "
	if !errors.Is(err, local.ErrNoPostgres) || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), "Run `apt-get install postgresql`") {
		t.Errorf("err = %v", err)
	}
}

func TestDataOfAVersionThatIsNotInstalledIsReportedWithoutADownload(t *testing.T) {
	withoutPackages(t)
	t.Setenv("PATH", pathWithoutPostgres(t))
	asked := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.NotFound(w, r)
	}))
	defer srv.Close()
	home := reachableDir(t)
	data := filepath.Join(home, "postgres", "data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := local.StartPostgres(t.Context(), local.PostgresOptions{
		Home: home, Repository: srv.URL, Places: []string{}, Log: testkit.Log(t),
	})
	const why = "no Postgres 16 is installed (the distribution's packages: "
	if !errors.Is(err, local.ErrNoPostgres) || !strings.Contains(err.Error(), why) ||
		!strings.Contains(err.Error(), "; binaries from Maven: the data needs version 16). ") {
		t.Errorf("err = %v", err)
	}
	if len(asked) > 0 {
		t.Errorf("asked the repository for %s", <-asked)
	}
}

// noLogLeft holds the test to leaving nothing of the library's in the temporary directory.
func noLogLeft(t *testing.T) {
	t.Helper()
	dir := reachableDir(t)
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := filepath.Glob(filepath.Join(dir, "embedded_postgres_log*")); runtime.GOOS == "linux" &&
			(err != nil || len(left) > 0) {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
}

// pathWithoutPostgres returns PATH without the directories that contain Postgres.
func pathWithoutPostgres(t *testing.T) string {
	t.Helper()
	var keep []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err != nil {
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, string(filepath.ListSeparator))
}
