package testkit

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// postfixMain and postfixMaster configure a relay that has no mailboxes, looks up no names, and gives up at once.
const (
	postfixMain = `compatibility_level = 3.6
queue_directory = %[1]s/spool
data_directory = %[1]s/data
maillog_file = %[1]s/log
maillog_file_prefixes = %[1]s
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = mta.example
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
local_recipient_maps =
alias_maps =
smtpd_recipient_restrictions = permit_mynetworks, reject
disable_dns_lookups = yes
notify_classes =
maximal_queue_lifetime = 0
bounce_queue_lifetime = 0
%[2]s
`
	postfixMaster = `127.0.0.1:%d inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`
)

// Postfix starts Debian's Postfix as a relay on a free port of the loopback interface, with further lines of main.cf,
// and returns the port. It ends with the test. Its master needs root, by sudo if this process is not root; its other
// programs run as their own user. Without it the test is skipped, or fails if CI=true.
func Postfix(t testing.TB, lines string) int {
	t.Helper()
	postfix := program(t, "postfix")
	dir, err := os.MkdirTemp("", "postfix") //nolint:usetesting // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	asRoot := func(argv ...string) ([]byte, error) {
		if os.Geteuid() != 0 {
			argv = slices.Concat([]string{"sudo", "-n"}, argv)
		}
		return exec.CommandContext(context.WithoutCancel(t.Context()), argv[0], argv[1:]...).CombinedOutput()
	}
	t.Cleanup(func() { _, _ = asRoot("rm", "-rf", dir) })
	port := nodePort(t)
	conf, spool, data := filepath.Join(dir, "conf"), filepath.Join(dir, "spool"), filepath.Join(dir, "data")
	for _, made := range []error{
		os.Mkdir(conf, 0o700), os.Mkdir(spool, 0o700), os.Mkdir(data, 0o700),
		os.WriteFile(filepath.Join(conf, "main.cf"), fmt.Appendf(nil, postfixMain, dir, lines), 0o600),
		os.WriteFile(filepath.Join(conf, "master.cf"), fmt.Appendf(nil, postfixMaster, port), 0o600),
	} {
		if made != nil {
			t.Fatal(made)
		}
	}
	if out, err := asRoot("chown", "-R", "root:root", conf, spool); err != nil {
		unavailable(t, fmt.Errorf("postfix needs root: %w: %s", err, out))
	}
	for _, argv := range [][]string{
		{"chown", "postfix", data},
		{"chmod", "-R", "a+rX", conf},
		{"chmod", "a+rx", dir, spool, data},
		{postfix, "-c", conf, "start"},
	} {
		if out, err := asRoot(argv...); err != nil {
			t.Fatalf("%s: %v: %s", argv[0], err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := asRoot(postfix, "-c", conf, "stop"); err != nil {
			t.Errorf("stop postfix: %v: %s", err, out)
		}
		if log, err := asRoot("cat", filepath.Join(dir, "log")); err == nil && t.Failed() {
			t.Logf("postfix: %s", log)
		}
	})
	eventually(t, "postfix listens", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return port
}
