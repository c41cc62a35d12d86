package testkit

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Pooler starts a pgbouncer in transaction mode for database, a URL of this package, with fewer sessions than any of
// our pools has, and returns its URL. Without an installed pgbouncer the test is skipped, or fails if CI=true.
func Pooler(t testing.TB, database string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		unavailable(t, err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	// It does not run as root, and only the owner may use the server's socket.
	var as *syscall.Credential
	dir, err := os.MkdirTemp("/tmp", "fw-pooler-") //nolint:usetesting // another user's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if info, err := os.Stat(cfg.Host); err == nil && os.Geteuid() == 0 {
		owner := info.Sys().(*syscall.Stat_t)
		as = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	port := nodePort(t)
	conf := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n%s = host=%s port=%d dbname=%s user=%s\n[pgbouncer]\nlisten_addr = "+
		"127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = any\n"+
		"pool_mode = transaction\ndefault_pool_size = 6\nmax_client_conn = 500\nlogfile = %s\n", cfg.Database,
		cfg.Host, cfg.Port, cfg.Database, cfg.User, port, filepath.Join(dir, "log"))
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil { //nolint:gosec // nothing secret
		t.Fatal(err)
	}
	daemon(t, as, program, "-q", conf)
	address := &url.URL{
		Scheme: "postgres", User: u.User, Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path: u.Path, RawQuery: "sslmode=disable",
	}
	eventually(t, "the pooler answers", func() bool {
		conn, err := pgx.Connect(t.Context(), address.String())
		if err != nil {
			return false
		}
		return conn.Close(t.Context()) == nil
	})
	return address.String()
}
