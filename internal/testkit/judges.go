package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// program returns the path of a program. Without it the test is skipped, or fails if CI=true.
func program(t testing.TB, name string) string {
	t.Helper()
	for _, at := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(at); err == nil {
			return path
		}
	}
	unavailable(t, fmt.Errorf("%s is not installed", name))
	return ""
}

// nobody returns the account of programs that must not run as root; nil: this process is not root.
func nobody(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// SMTPSink starts Postfix's smtp-sink, a server that takes mails and forgets them, with the given options, and returns
// its port on the loopback interface. Without it the test is skipped, or fails if CI=true.
func SMTPSink(t testing.TB, options ...string) int {
	t.Helper()
	port := nodePort(t)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	daemon(t, nobody(t), slices.Concat([]string{program(t, "smtp-sink")}, options, []string{address, "100"})...)
	eventually(t, "smtp-sink listens", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return port
}

// OpenDKIM returns what opendkim says about a mail. records are TXT records by name, in place of DNS. Without opendkim
// the test is skipped, or fails if CI=true.
func OpenDKIM(t testing.TB, records map[string]string, mime []byte) string {
	t.Helper()
	path, dir := program(t, "opendkim"), t.TempDir()
	var keys strings.Builder
	for name, text := range records {
		fmt.Fprintf(&keys, "%s %s\n", name, text)
	}
	files := map[string]string{
		"keys": keys.String(), "mail": string(mime),
		"conf": "Mode v\nSyslog no\nTestPublicKeys " + filepath.Join(dir, "keys") + "\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), path, "-x", filepath.Join(dir, "conf"), "-t",
		filepath.Join(dir, "mail")).CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() < 0) {
		t.Fatalf("opendkim: %v\n%s", err, out)
	}
	return string(out)
}

// Rspamd is a running rspamd.
type Rspamd struct{ url string }

// StartRspamd starts an rspamd that knows the TXT records and asks no other DNS. Without rspamd the test is skipped, or
// fails if CI=true.
func StartRspamd(t testing.TB, records map[string]string) *Rspamd {
	t.Helper()
	path, as := program(t, "rspamd"), nobody(t)
	dir, err := os.MkdirTemp("/tmp", "fw-rspamd-") //nolint:usetesting // another user's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var fakes []map[string]any
	for name, text := range records {
		fakes = append(fakes, map[string]any{"name": name, "type": "txt", "replies": []string{text}})
	}
	list, err := json.Marshal(fakes)
	if err != nil {
		t.Fatal(err)
	}
	port := nodePort(t)
	conf := fmt.Sprintf(`.include "$CONFDIR/common.conf"
options {
	pidfile = "%[1]s/pid"; filters = "chartable,dkim,regexp"; disable_hyperscan = true;
	url_tld = "%[1]s/tld"; # a short list: that of all the world takes a minute to compile
	dns { nameserver = ["127.0.0.1:1"]; timeout = 0.2s; retransmits = 1; fake_records = %[2]s; }
}
logging { type = "file"; filename = "%[1]s/log"; level = "warning"; }
worker "normal" { bind_socket = "127.0.0.1:%[3]d"; count = 1; }
`, dir, list, port)
	for name, text := range map[string]string{"conf": conf, "tld": "com\norg\nexample\n"} {
		//nolint:gosec // nothing secret
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	daemon(t, as, path, "-f", "-c", filepath.Join(dir, "conf"), "--var=RUNDIR="+dir, "--var=DBDIR="+dir,
		"--var=LOGDIR="+dir)
	r := &Rspamd{url: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	eventually(t, "rspamd answers", func() bool {
		_, err := r.ask(t.Context(), "/ping", nil)
		return err == nil
	})
	return r
}

// Verdict is what rspamd says about a mail.
type Verdict struct {
	Score   float64
	Action  string
	Symbols map[string]struct {
		Score   float64
		Options []string
	}
}

// Judge returns rspamd's verdict on a mail.
func (r *Rspamd) Judge(t testing.TB, mime []byte) (v Verdict) {
	t.Helper()
	body, err := r.ask(t.Context(), "/checkv2", mime)
	if err == nil {
		err = json.Unmarshal(body, &v)
	}
	if err != nil {
		t.Fatalf("rspamd: %v\n%s", err, body)
	}
	return v
}

func (r *Rspamd) ask(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	var out bytes.Buffer
	if _, err := out.ReadFrom(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return out.Bytes(), fmt.Errorf("status %d", res.StatusCode)
	}
	return out.Bytes(), nil
}
