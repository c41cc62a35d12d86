// Package e2e_test runs the built binary as its users do. The scripts are in testdata. Their commands beyond
// testscript's are in commands_test.go.
package e2e_test

import (
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// binary is built once for all tests, in a place where every user may run it.
var binary = struct {
	sync.Once
	dir string
	err error
}{}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	os.Exit(code)
}

func build(t *testing.T) string {
	t.Helper()
	binary.Do(func() {
		binary.dir, binary.err = os.MkdirTemp("/tmp", "fw-e2e-bin-") //nolint:usetesting // outlives this test
		if binary.err != nil {
			return
		}
		if binary.err = os.Chmod(binary.dir, 0o755); binary.err != nil {
			return
		}
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(binary.dir, "funnelwork"),
			"github.com/funnelwork/funnelwork").CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return filepath.Join(binary.dir, "funnelwork")
}

func TestScripts(t *testing.T) {
	t.Parallel()
	funnelwork := build(t)
	testkit.DB(t) // skips, or fails in CI, without Postgres
	testscript.Run(t, testscript.Params{
		Dir:      "testdata",
		Cmds:     commands,
		TestWork: false,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "redis-server":
				_, err := exec.LookPath("redis-server")
				return err == nil, nil
			default:
				return false, fmt.Errorf("unknown condition %q", cond)
			}
		},
		Setup: func(env *testscript.Env) error {
			home, err := os.MkdirTemp("/tmp", "fw-e2e-") //nolint:usetesting // short enough for a socket in it
			if err != nil {
				return err
			}
			if err := os.Chmod(home, 0o755); err != nil {
				return err
			}
			w := &world{home: home}
			env.Values[key{}] = w
			env.Defer(w.end)
			database, _, err := emptyDatabase(t, testkit.DB(t).URL)
			if err != nil {
				return err
			}
			ports, err := freePorts(3)
			if err != nil {
				return err
			}
			for k, v := range map[string]string{
				"FUNNELWORK": funnelwork, "BASE": home, "H": filepath.Join(home, "home"), "ADDR": ports[0],
				"OPS": ports[1], "OPS2": ports[2],
				"API": "http://" + ports[0], "OPSURL": "http://" + ports[1], "EMPTY_DATABASE_URL": database,
			} {
				env.Setenv(k, v)
			}
			return nil
		},
	})
}

// emptyDatabase creates a database without a schema in the server at a superuser's URL. login is the URL of its owner,
// who has exactly the rights that deploy/README.md requires; admin is the superuser's URL.
func emptyDatabase(t *testing.T, superuser string) (login, admin string, err error) {
	u, err := url.Parse(superuser)
	if err != nil {
		return "", "", err
	}
	conn, err := pgx.Connect(t.Context(), superuser)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = conn.Close(t.Context()) }()
	name := "empty" + strings.TrimPrefix(u.Path, "/")
	owner := "owner_of_" + name
	for _, sql := range []string{
		"CREATE ROLE " + owner + " LOGIN CREATEROLE PASSWORD 'owner'",
		`DO $$ BEGIN GRANT funnelwork_app, funnelwork_system TO ` + owner + ` WITH ADMIN OPTION;
			EXCEPTION WHEN undefined_object THEN NULL; END $$`,
		"CREATE DATABASE " + name + " OWNER " + owner,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			return "", "", fmt.Errorf("%s: %w", sql, err)
		}
	}
	u.Path = "/" + name
	admin = u.String()
	u.User = url.UserPassword(owner, "owner")
	return u.String(), admin, nil
}

// freePorts returns free loopback addresses below the kernel's range of ports for outgoing connections, in a range that
// other packages' tests leave alone.
func freePorts(n int) ([]string, error) {
	var found []string
	for port := 27000 + os.Getpid()%1500; len(found) < n && port < 30000; port++ {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if _, taken := claimed.LoadOrStore(addr, true); taken {
			continue
		}
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			found = append(found, addr)
		}
	}
	if len(found) < n {
		return nil, fmt.Errorf("only %d free ports", len(found))
	}
	return found, nil
}

// claimed has the ports given to scripts of this process.
var claimed sync.Map

// processesOf lists the running processes with dir in their command line.
func processesOf(dir string) []string {
	out, _ := exec.Command("ps", "-A", "-ww", "-o", "pid=,args=").Output()
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, dir) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
