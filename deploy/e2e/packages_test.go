package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hide runs a command in a mount namespace, as a user, on a machine of Debian's without Postgres and Redis: their files
// and those of their libraries are hidden, dpkg does not know them, and apt has no lists.
const hide = `
set -e
base=$1 uid=$2
shift 2
mkdir -p $base/none
awk -v RS= -v ORS='\n\n' '!/^Package: (postgresql|redis|libpq|libjemalloc|liblzf)/ &&
	!/\nDepends:[^\n]*(postgresql|redis|libpq|libjemalloc|liblzf)/' /var/lib/dpkg/status >$base/status
mount --bind $base/status /var/lib/dpkg/status
for dir in /usr/lib/postgresql /usr/share/postgresql /var/lib/apt/lists; do
	[ ! -d $dir ] || mount --bind $base/none $dir
done
for file in /usr/bin/redis-server /usr/bin/redis-check-rdb /usr/lib/*/libpq.so.* /usr/lib/*/libjemalloc.so.* \
	/usr/lib/*/liblzf.so.*; do
	[ ! -f $file ] || mount --bind /dev/null $(readlink -f $file)
done
if redis-server --version || postgres --version; then exit 1; fi 2>/dev/null
exec setpriv --reuid=$uid --regid=$uid --clear-groups "$@"`

// A machine with apt and neither Postgres nor Redis, and without a way to Maven. The packages are the distribution's.
func TestAFirstStartNeedsNothingButApt(t *testing.T) {
	if !*clean {
		t.Skip("run with -clean: downloads packages")
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED FOR WANT OF ROOT: it hides files by mounts")
	}
	for _, tool := range []string{"apt-get", "apt-cache", "dpkg-deb", "unshare", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("SKIPPED FOR WANT OF APT AND UTIL-LINUX: ", err)
		}
	}
	for name, uid := range map[string]int{"root": 0, "an ordinary user": 65534} {
		t.Run(name, func(t *testing.T) {
			base, err := os.MkdirTemp("/tmp", "fw-apt-") //nolint:usetesting // short enough for a socket in it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(base) })
			dir := filepath.Join(base, "user")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, uid, uid); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(base, 0o755); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			out, log := hiddenStart(t, base, uid)
			t.Logf("first start: %v", time.Since(begin).Round(time.Second))
			for _, line := range []string{"  Postgres     ", "  Redis        "} {
				_, rest, _ := strings.Cut(out, line)
				if rest, _, _ = strings.Cut(rest, "\n"); !strings.HasSuffix(rest,
					" from the distribution's packages, a private server in the home") {
					t.Errorf("%s%q\n%s", line, rest, log)
				}
			}
			if !strings.Contains(log, "fetching package lists") {
				t.Errorf("used lists that are hidden:\n%s", log)
			}
			begin = time.Now()
			out, log = hiddenStart(t, base, uid)
			t.Logf("second start: %v", time.Since(begin).Round(time.Second))
			if strings.Count(out, "from the distribution's packages") != 2 || strings.Contains(log, "fetching") {
				t.Errorf("second start: %s\n%s", out, log)
			}
			if left := processesOf(base); len(left) > 0 {
				t.Errorf("left behind: %s", strings.Join(left, "\n"))
			}
		})
	}
}

// hiddenStart runs up on base/user/home until it has printed its block, and ends it. It returns the output and the log.
func hiddenStart(t *testing.T, base string, uid int) (out, log string) {
	t.Helper()
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	var printed, logged spoken
	cmd := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", hide, "sh", base, strconv.Itoa(uid), build(t),
		"up", "--home", filepath.Join(base, "user", "home"), "--addr", ports[0], "--ops-addr", ports[1],
		"--postgres-repository", "http://127.0.0.1:1")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = base, bareEnv(), &printed, &logged
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.After(10 * time.Minute)
	for !strings.Contains(printed.String(), "operations") {
		select {
		case err := <-ended:
			t.Fatalf("up ended: %v\n%s", err, logged.String())
		case <-limit:
			t.Fatalf("up is not ready after 10 minutes:\n%s", logged.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("%v: %s", err, logged.String())
	}
	return printed.String(), logged.String()
}
