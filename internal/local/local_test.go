package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// The test binary also acts as the process that its servers must not outlive: `local.test serve <home>`.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

type addresses struct{ Postgres, Redis string }

func serve(home string) {
	ctx := context.Background()
	var kept *local.Home // keeps its lock
	a, err := func() (addresses, error) {
		if home != "" {
			var err error
			if kept, err = local.OpenHome(home); err != nil {
				return addresses{}, err
			}
		}
		p, err := local.StartPostgres(ctx, local.PostgresOptions{Home: home, Repository: "none"})
		if err != nil {
			return addresses{}, err
		}
		r, err := local.StartRedis(ctx, local.RedisOptions{Home: home, NoDownload: true})
		if err != nil {
			return addresses{}, err
		}
		return addresses{p.URL, r.URL}, nil
	}()
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(a)
	_, _ = io.Copy(io.Discard, os.Stdin)
	defer runtime.KeepAlive(kept)
	select {} // only a kill ends it
}

// child starts the process, as uid if that is not 0, and waits until its servers are up.
func child(t *testing.T, home string, uid uint32) (*exec.Cmd, addresses) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if uid != 0 { // the build directory belongs to root
		bytes, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		binary = filepath.Join(reachableDir(t), "local.test")
		if err := os.WriteFile(binary, bytes, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, "serve", home)
	var stderr strings.Builder
	cmd.Stderr, cmd.Dir = &stderr, "/"
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var a addresses
	if err := json.NewDecoder(out).Decode(&a); err != nil {
		_ = cmd.Wait()
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return cmd, a
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// reachableDir returns a directory with a short name that every user may enter. It outlives the servers in it.
func reachableDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fw-local-") //nolint:usetesting // t.TempDir is too long for a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		eventually(t, "the directory is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func needServers(t *testing.T) {
	t.Helper()
	testkit.DB(t)
	testkit.RealRedis(t)
}

// eventually waits for another process.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within five minutes: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func socketOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme == "unix" {
		return u.Path
	}
	return filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
}

func refused(path string) bool {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) != nil
}

func TestServersDieWithAKilledParentAndTheHomeStartsAgain(t *testing.T) {
	t.Parallel()
	needServers(t)
	home := filepath.Join(reachableDir(t), "home")
	cmd, a := child(t, home, 0)
	conn, err := pgx.Connect(t.Context(), a.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 1 AS one"); err != nil {
		t.Fatal(err)
	}
	if _, err := local.OpenHome(home); err == nil ||
		!strings.Contains(err.Error(), "in use by another funnelwork (pid ") {
		t.Errorf("a second process: %v", err)
	}
	kill(t, cmd)
	// Immediately, while the old servers may still be stopping.
	cmd, a = child(t, home, 0)
	if conn, err = pgx.Connect(t.Context(), a.Postgres); err != nil {
		t.Fatal(err)
	}
	var one int
	if err := conn.QueryRow(t.Context(), "SELECT one FROM kept").Scan(&one); err != nil || one != 1 {
		t.Errorf("after kill -9: %d, %v", one, err)
	}
	kill(t, cmd)
	for _, address := range []string{a.Postgres, a.Redis} {
		eventually(t, "the servers ended", func() bool { return refused(socketOf(t, address)) })
	}
}

func TestAServerWithoutAHomeLeavesNothingBehindAKill(t *testing.T) {
	t.Parallel()
	needServers(t)
	cmd, a := child(t, "", 0)
	dirs := []string{filepath.Dir(socketOf(t, a.Postgres)), filepath.Dir(socketOf(t, a.Redis))}
	for _, d := range dirs {
		if _, err := os.Stat(d); err != nil {
			t.Fatal(err)
		}
	}
	kill(t, cmd)
	for _, d := range dirs {
		eventually(t, d+" is gone", func() bool {
			_, err := os.Stat(d)
			return errors.Is(err, os.ErrNotExist)
		})
	}
}

func TestAnOrdinaryUserRunsTheServersItself(t *testing.T) {
	t.Parallel()
	needServers(t)
	if os.Geteuid() != 0 {
		t.Skip("the other tests are run by an ordinary user already")
	}
	for name, uid := range map[string]uint32{"nobody": 65534, "a user without a name": 54321} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("unshare"); err != nil && uid != 65534 {
				t.Skip("needs unshare")
			}
			home := filepath.Join(reachableDir(t), "home")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(home, int(uid), int(uid)); err != nil {
				t.Fatal(err)
			}
			cmd, a := child(t, home, uid)
			defer kill(t, cmd)
			if got := socketOf(t, a.Postgres); !strings.HasPrefix(got, home) {
				t.Errorf("socket at %s, want it in %s", got, home)
			}
		})
	}
}

func TestRootKeepsAPointerWhereTheServersUserCannotReachTheHome(t *testing.T) {
	t.Parallel()
	needServers(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	closed := filepath.Join(reachableDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(closed, "home")
	cmd, a := child(t, home, 0)
	for _, name := range []string{"postgres.at", "redis.at"} {
		at, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimSpace(string(at))
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	first := socketOf(t, a.Postgres)
	kill(t, cmd)
	cmd, a = child(t, home, 0)
	if second := socketOf(t, a.Postgres); second != first {
		t.Errorf("the second start is at %s, the first was at %s", second, first)
	}
	kill(t, cmd)
	eventually(t, "the servers ended", func() bool { return refused(first) && refused(socketOf(t, a.Redis)) })
}

func TestPostgresStartsFromWhateverItFinds(t *testing.T) {
	t.Parallel()
	needServers(t)
	deep := strings.Repeat("/a-rather-long-name-of-a-directory", 4)
	for name, tc := range map[string]struct {
		home    string
		tcp     bool
		prepare func(t *testing.T, home string)
	}{
		"a home too deep for a socket's address": {home: deep},
		"no sockets":                             {tcp: true},
		"an initdb that was cut short": {prepare: func(t *testing.T, home string) {
			part := filepath.Join(home, "postgres", "data.part")
			if err := errors.Join(os.MkdirAll(part, 0o755),
				os.WriteFile(filepath.Join(part, "PG_VERSION"), []byte("15\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if os.Geteuid() == 0 { // as an earlier start left it
				if err := os.Chown(filepath.Join(home, "postgres"), 65534, 65534); err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(reachableDir(t), tc.home)
			if err := os.MkdirAll(home, 0o755); err != nil {
				t.Fatal(err)
			}
			if tc.prepare != nil {
				tc.prepare(t, home)
			}
			for range 2 { // the first start, and one after a stop
				p, err := local.StartPostgres(t.Context(),
					local.PostgresOptions{Home: home, TCP: tc.tcp, Repository: "none", Log: testkit.Log(t)})
				if err != nil {
					t.Fatal(err)
				}
				conn, err := pgx.Connect(t.Context(), p.URL)
				if err != nil {
					t.Fatal(err)
				}
				settings := map[string]string{}
				rows, _ := conn.Query(t.Context(), `SELECT name, setting FROM pg_settings
					WHERE name IN ('fsync', 'synchronous_commit', 'listen_addresses')
						OR source = 'command line' AND setting <> boot_val`)
				var k, v string
				if _, err := pgx.ForEachRow(rows, []any{&k, &v}, func() error {
					settings[k] = v
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if settings["fsync"] != "on" {
					t.Errorf("fsync is %q", settings["fsync"])
				}
				if settings["synchronous_commit"] != "on" {
					t.Errorf("synchronous_commit is %q", settings["synchronous_commit"])
				}
				if (settings["listen_addresses"] == "") == tc.tcp {
					t.Errorf("listen_addresses is %q", settings["listen_addresses"])
				}
				delete(settings, "fsync")
				delete(settings, "synchronous_commit")
				for _, place := range []string{
					"data_directory", "config_file", "hba_file", "ident_file", "listen_addresses", "port",
					"unix_socket_directories", "cluster_name", "log_checkpoints",
				} {
					delete(settings, place)
				}
				if len(settings) > 0 {
					t.Errorf("settings that are not Postgres's own: %v", settings)
				}
				_ = conn.Close(t.Context())
				if err := p.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if tc.home != "" {
					sock := filepath.Dir(socketOf(t, p.URL))
					if _, err := os.Stat(sock); !errors.Is(err, os.ErrNotExist) {
						t.Errorf("the socket's directory %s is left behind", sock)
					}
				}
			}
		})
	}
}

func TestAPortNeedsThePassword(t *testing.T) {
	t.Parallel()
	needServers(t)
	p, err := local.StartPostgres(t.Context(), local.PostgresOptions{TCP: true, Fast: true, Repository: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Stop(context.WithoutCancel(t.Context())) }()
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("funnelwork", "guess")
	if _, err := pgx.Connect(t.Context(), u.String()); err == nil {
		t.Error("a wrong password was let in")
	}
}

func TestTheEndOfAServerIsNoticed(t *testing.T) {
	t.Parallel()
	needServers(t)
	p, err := local.StartPostgres(t.Context(), local.PostgresOptions{Fast: true, Repository: "none"})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	var data string
	if err := conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	pidfile, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "kill", "-QUIT", strings.Fields(string(pidfile))[0]).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Error("not noticed")
	}
}

func TestAnUnwritableHomeIsOneClearLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := local.OpenHome(filepath.Join(file, "home"))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "home cannot be made") {
		t.Errorf("error %v, want one line with %q", err, "home cannot be made")
	}
}

func TestWithoutARedisServerThisProcessPlaysOneWhoseClockMoves(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var lines strings.Builder
	r, err := local.StartRedis(t.Context(), local.RedisOptions{Home: t.TempDir(), Log: logTo(&lines)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Stop(context.WithoutCancel(t.Context())) }()
	if !r.InProcess {
		t.Error("the Redis is not in this process")
	}
	if s := lines.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "using an in-process Redis") {
		t.Errorf("logged %q, want one line with %q", s, "using an in-process Redis")
	}
	opt, err := redis.ParseURL(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer func() { _ = c.Close() }()
	if err := c.Set(t.Context(), "k", "v", time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	if now, err := c.Time(t.Context()).Result(); err != nil || time.Since(now).Abs() > time.Second {
		t.Errorf("TIME is %v, %v", now, err)
	}
	eventually(t, "the key expired", func() bool { return errors.Is(c.Get(t.Context(), "k").Err(), redis.Nil) })
	if now, err := c.Time(t.Context()).Result(); err != nil || time.Since(now).Abs() > time.Second {
		t.Errorf("TIME is %v, %v", now, err)
	}
	opt.Password = "guess"
	guesser := redis.NewClient(opt)
	defer func() { _ = guesser.Close() }()
	if err := guesser.Ping(t.Context()).Err(); err == nil {
		t.Error("a wrong password was let in")
	}
}

func TestAHomeMayHaveAnyName(t *testing.T) {
	t.Parallel()
	needServers(t)
	for _, name := range []string{"with blanks", "a+b%41", `it's "so"`, "a,b", "größe #1;?"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := child(t, filepath.Join(reachableDir(t), name), 0) // serving: each server replied
			conn := testkit.Pgx(t, a.Postgres)
			if err := conn.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			o, err := redis.ParseURL(a.Redis)
			if err != nil {
				t.Fatal(err)
			}
			client := redis.NewClient(o)
			t.Cleanup(func() { _ = client.Close() })
			if err := client.Ping(t.Context()).Err(); err != nil {
				t.Errorf("%s: %v", a.Redis, err)
			}
		})
	}
}
