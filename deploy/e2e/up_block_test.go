package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What up prints at its first start on an empty home, and at the next one. The golden files have placeholders for what
// differs between machines.
func TestTheBlockThatUpPrints(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("needs redis-server, which the block names")
	}
	dir, err := os.MkdirTemp("/tmp", "fw-e2e-") //nolint:usetesting // short enough for a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	password := ""
	for _, name := range []string{"up_first.golden", "up_second.golden"} {
		out, log := upOnce(t, dir, ports)
		if m := regexp.MustCompile(`(?m)^demo login: \S+ / (\w{16}) `).FindStringSubmatch(out); m != nil {
			password = m[1]
		}
		shown := strings.NewReplacer(ports[0], "{addr}", ports[1], "{ops-addr}", dir, "{dir}",
			password+" ", "{password} ", `"`+password+`"`, `"{password}"`).Replace(out)
		shown = regexp.MustCompile(`(?m)^(  (?:Postgres|Redis) +)\d+(\.\d+)+,`).ReplaceAllString(shown, "$1{version},")
		golden(t, name, shown)
		if n := strings.Count(log, `"msg":"schema migrated"`); n != map[string]int{"up_first.golden": 1}[name] {
			t.Errorf("%s: %d lines about migrations:\n%s", name, n, log)
		}
		for line := range strings.Lines(log) {
			if strings.Contains(line, `"msg":"job ran"`) && strings.Contains(line, `"org_id":"00000000-`) {
				t.Errorf("%s: a run of the system org is logged: %s", name, line)
			}
		}
	}
}

// upOnce starts up on dir's home, waits until it has printed the whole block, and ends it. It returns what was printed
// and the log.
func upOnce(t *testing.T, dir string, ports []string) (out, log string) {
	t.Helper()
	var printed, logged spoken
	cmd := exec.CommandContext(t.Context(), build(t),
		"up", "--home", "home", "--addr", ports[0], "--ops-addr", ports[1])
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, bareEnv(), &printed, &logged
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	isPrinted := func() bool { return strings.Contains(printed.String(), "operations") }
	until(t, "up has printed its block", isPrinted, logged.String)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, logged.String())
	}
	return printed.String(), logged.String()
}

// The README's first-run section shows the block; the curl line is cut short there.
func TestTheREADMEShowsTheBlockThatUpPrints(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(readme), "\nready: ")
	if !found {
		t.Fatal("the README shows no block that begins with \"ready: \"")
	}
	shown, _, _ = strings.Cut("ready: "+shown, "  curl -s ")
	shown = strings.NewReplacer("127.0.0.1:8080", "{addr}", "127.0.0.1:9090", "{ops-addr}").Replace(shown)
	for pattern, with := range map[string]string{
		`(?m)^(  (?:Postgres|Redis) +)\d+(\.\d+)+,`: "$1{version},",
		`(?m)^(  home +).*`:                         "$1{dir}/home",
		` / \w{16} `:                                " / {password} ",
	} {
		shown = regexp.MustCompile(pattern).ReplaceAllString(shown, with)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "up_first.golden"))
	if err != nil {
		t.Fatal(err)
	}
	block, _, _ := strings.Cut(string(want), "  curl -s ")
	if diff := cmp.Diff(block, shown); diff != "" {
		t.Errorf("README.md (-printed +shown):\n%s", diff)
	}
}
