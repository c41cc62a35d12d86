package testkit

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/funnelwork/funnelwork/internal/local"
)

// BaseBackup returns the path of pg_basebackup for servers of a version such as "15.14". Without one the test is
// skipped, or fails if CI=true, unless FUNNELWORK_TEST_WITHOUT=pg_basebackup says that none is expected.
func BaseBackup(t testing.TB, version string) string {
	t.Helper()
	major, _, _ := strings.Cut(version, ".")
	for _, path := range []string{"/usr/lib/postgresql/" + major + "/bin/pg_basebackup", "pg_basebackup"} {
		tool, err := exec.LookPath(path)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), tool, "--version").Output()
		if err == nil && strings.Contains(string(out), " "+major+".") {
			return tool
		}
	}
	if os.Getenv("FUNNELWORK_TEST_WITHOUT") == "pg_basebackup" {
		t.Skipf("SKIPPED FOR WANT OF pg_basebackup OF POSTGRES %s", major)
	}
	unavailable(t, fmt.Errorf("no pg_basebackup of Postgres %s is installed", major))
	return ""
}

// Standby starts a streaming standby of the server. A replication slot keeps the log that it needs while it is stopped.
func (p *PostgresServer) Standby() *PostgresServer {
	p.t.Helper()
	tool := BaseBackup(p.t, p.server.Version)
	home, err := os.MkdirTemp("/tmp", "fw-pg-") // short enough for a socket in it
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.Chmod(home, 0o755); err != nil { //nolint:gosec // the server's user passes through
		p.t.Fatal(err)
	}
	data := filepath.Join(home, "postgres", "data")
	if err := os.Mkdir(filepath.Dir(data), 0o755); err != nil { //nolint:gosec // as above
		p.t.Fatal(err)
	}
	slot := "standby_" + strings.ReplaceAll(filepath.Base(home), "-", "_")
	for _, argv := range [][]string{
		{
			tool, "-d", p.URL, "-D", data, "--checkpoint=fast", "--no-sync", "--write-recovery-conf",
			"--create-slot", "--slot=" + slot,
		},
		{"chown", "-R", "--reference=" + p.data, filepath.Dir(data)}, // the server's user, where tests run as root
	} {
		if out, err := exec.CommandContext(p.t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
			p.t.Fatalf("testkit: %v: %v: %s", argv, err, out)
		}
	}
	s := &PostgresServer{t: p.t, data: data, opt: local.PostgresOptions{Home: home, Fast: true, Log: fetchLog()}}
	s.launch()
	s.URL = s.server.URL
	return s
}

// Promote makes a standby a primary.
func (p *PostgresServer) Promote() {
	p.t.Helper()
	if _, err := Pgx(p.t, p.URL).Exec(p.t.Context(), "SELECT pg_promote()"); err != nil {
		p.t.Fatalf("testkit: postgres: %v", err)
	}
}

// Kill kills the server with SIGKILL. Start recovers it.
func (p *PostgresServer) Kill() {
	p.t.Helper()
	if err := syscall.Kill(p.pid(), syscall.SIGKILL); err != nil {
		p.t.Fatalf("testkit: postgres: %v", err)
	}
	<-p.server.Done() // its children end when they notice
}

// Hang stops all processes of the server with SIGSTOP: sessions stay open without replies until Continue.
func (p *PostgresServer) Hang() { p.signal(syscall.SIGSTOP) }

// Continue ends Hang.
func (p *PostgresServer) Continue() { p.signal(syscall.SIGCONT) }

// signal sends SIGSTOP or SIGCONT to the server and its children, each of which has a process group of its own. It
// returns when all of them have stopped or continued.
func (p *PostgresServer) signal(sig syscall.Signal) {
	p.t.Helper()
	parent := p.pid()
	send := func(pid int) {
		if err := syscall.Kill(pid, sig); err != nil {
			return // it has ended
		}
		eventually(p.t, "a process of the server has taken the signal", func() bool {
			state, _ := procStat(pid)
			ended := state == "" || state == "Z"
			return ended || (state == "T") == (sig == syscall.SIGSTOP)
		})
	}
	send(parent) // first, so that it starts no more children
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if _, of := procStat(pid); err == nil && of == parent {
			send(pid)
		}
	}
}

// procStat returns the state and the parent of a process; "" and 0 if there is no such process.
func procStat(pid int) (state string, parent int) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", 0
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// AnyOf returns a URL that leads to the one of two servers that takes writes.
func AnyOf(t testing.TB, one, other *PostgresServer) string {
	t.Helper()
	u, err := url.Parse(one.URL)
	if err != nil {
		t.Fatal(err)
	}
	v, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	if u.Host != "" || v.Host != "" {
		t.Fatal("testkit: the servers listen on ports, which AnyOf does not know")
	}
	q := u.Query()
	q.Set("host", q.Get("host")+","+v.Query().Get("host"))
	q.Set("port", q.Get("port")+","+v.Query().Get("port"))
	q.Set("target_session_attrs", "read-write")
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}
