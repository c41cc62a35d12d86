package local_test

import (
	"archive/zip"
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
	if jars != 1 || strings.Count(lines.String(), "downloading") != 1 {
		t.Errorf("%d downloads, said:\n%s", jars, lines.String())
	}
}

func TestADownloadThatFailsSaysWhatToDo(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	noLogLeft(t)
	t.Setenv("PATH", pathWithoutPostgres(t))
	_, err := local.StartPostgres(t.Context(),
		local.PostgresOptions{Home: reachableDir(t), Repository: srv.URL, Places: []string{}, Log: testkit.Log(t)})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "give DATABASE_URL") {
		t.Errorf("error %v, want one line with %q", err, "give DATABASE_URL")
	}
}

func TestAMissingPostgresIsReportedBeforeAnythingIsMadeOrAwaited(t *testing.T) {
	t.Setenv("PATH", pathWithoutPostgres(t))
	const install = "Install it (Debian, Ubuntu: apt install postgresql; macOS: brew install postgresql@17), " +
		"or give DATABASE_URL, or set FUNNELWORK_POSTGRES_REPOSITORY to a mirror of https://repo1.maven.org/maven2"
	for name, c := range map[string]struct{ repository, want string }{
		"no download is allowed": {"none", "private Postgres: no Postgres 15 or later is installed. " + install},
		"the repository cannot be reached": {
			"http://mirror:hunter2@127.0.0.1:1/maven", "private Postgres: no Postgres 15 or later is installed " +
				"(http://mirror:xxxxx@127.0.0.1:1/maven/ cannot be reached: dial tcp 127.0.0.1:1: connect: " +
				"connection refused). " + install,
		},
	} {
		home := reachableDir(t)
		_, err := local.StartPostgres(t.Context(), local.PostgresOptions{
			Home: home, Repository: c.repository, Places: []string{}, Log: testkit.Log(t),
		})
		if !errors.Is(err, local.ErrNoPostgres) || err.Error() != c.want {
			t.Errorf("%s: err = %v, want %s", name, err, c.want)
		}
		if data, _ := filepath.Glob(filepath.Join(home, "*", "*")); len(data) > 0 {
			t.Errorf("%s: made %v", name, data)
		}
	}
}

func TestDataOfAVersionThatIsNotInstalledIsReportedWithoutADownload(t *testing.T) {
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
	const install = "apt install postgresql-16; macOS: brew install postgresql@16"
	if !errors.Is(err, local.ErrNoPostgres) || !strings.Contains(err.Error(), install) {
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
