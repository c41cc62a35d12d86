package e2e_test

import (
	"bytes"
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file in testdata, or writes that file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test ./deploy/e2e -run '%s' -update writes it):\n%s", file, t.Name(), diff)
	}
}

// bareEnv is an environment without a setting of ours.
func bareEnv() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"} }

// use is one call of the command line.
type use struct {
	env  string // "NAME=value" or several of them, separated by blanks
	args string // separated by blanks
}

// output runs the call in dir and returns it as a terminal would show it, with its exit status.
func (u use) output(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), build(t), strings.Fields(u.args)...)
	cmd.Dir, cmd.Env = dir, bareEnv()
	cmd.Env = append(cmd.Env, strings.Fields(u.env)...)
	shown := "$ " + strings.TrimSpace(strings.TrimSpace(u.env+" funnelwork")+" "+u.args) + "\n"
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "{") { // a line of the log
			shown += line
		}
	}
	return shown + stdout.String() + "exit status " + cmd.ProcessState.String()[len("exit status "):] + "\n"
}

func TestTheCommandLineWithoutACommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := use{}.output(t, dir) + "\n" + use{args: "--version"}.output(t, dir)
	got = regexp.MustCompile(`(?m)^funnelwork \S+ \(go\S+, \S+/\S+\)$`).
		ReplaceAllString(got, "funnelwork {version} ({go}, {platform})")
	golden(t, "overview.golden", got)
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

// everywhere is an address of every interface, which has a port that the system chose.
var everywhere = regexp.MustCompile(`(0\.0\.0\.0|\[::\]):\d+ can`)

// Each wrong use is one line on stderr and exit status 1. It is found before anything is made or started, so that the
// directory stays empty, and it repeats no password.
func TestWrongUsesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	redis := miniredis.RunT(t)
	redis.RequireAuth("another")
	const free = " --addr 127.0.0.1:0 --ops-addr 127.0.0.1:0"
	const up = "up" + free
	const away = "DATABASE_URL=postgres://127.0.0.1:1/app"
	var got []string
	dir := t.TempDir()
	for _, u := range []use{
		{args: "wroker"},
		{args: "start"},
		{args: "jobs lst"},
		{args: "jobs"},
		{args: "up --adr :80"},
		{args: "up now"},
		{args: "user create"},
		{args: "worker"},
		{args: "up --addr 8080"},
		{args: "up --addr " + busy.Addr().String()},
		{args: "up --addr 127.0.0.1:0 --ops-addr " + busy.Addr().String()},
		{args: "up --addr 127.0.0.1:0 --ops-addr 0.0.0.0:0"},
		{args: "up --seed-password secret"},
		{args: "up --seed-password password1"},
		{args: "up --seed-email demo"},
		{args: "up --signup maybe"},
		{env: "FUNNELWORK_DRAIN_DELAY=soon", args: up},
		{env: "FUNNELWORK_TRUSTED_PROXIES=proxy", args: up},
		{env: "FUNNELWORK_INBOUND_TRUSTED=relay", args: up},
		{env: "DATABASE_URL=nonsense", args: up},
		{env: "DATABASE_URL=mysql://app:hunter2@db/app", args: up},
		{env: "DATABASE_URL=postgres://app:hunter2@db:port/app", args: up},
		{env: "DATABASE_URL=postgres://app:hunter2@127.0.0.1:1/app", args: up},
		{env: "DATABASE_URL=postgres://app:hunter2@127.0.0.1:1/app", args: "migrate"},
		{env: "REDIS_URL=cache:6379", args: up},
		{env: "REDIS_URL=http://:hunter2@cache", args: up},
		{env: "REDIS_URL=redis://:hunter2@cache/one", args: up},
		{env: "REDIS_URL=redis://:hunter2@" + redis.Addr(), args: up},
		{env: "REDIS_URL=redis://" + redis.Addr(), args: up},
		{env: away + " REDIS_URL=redis://:hunter2@" + redis.Addr(), args: "api" + free},
		{env: away + " REDIS_URL=redis://127.0.0.1:1", args: "worker" + free},
		{env: "FUNNELWORK_KEYSET=hunter2", args: up},
		{env: "FUNNELWORK_SMTP_URL=http://app:hunter2@mail", args: up},
		{env: "FUNNELWORK_POSTGRES_REPOSITORY=repo1.maven.org", args: up},
		{env: "FUNNELWORK_SANDBOXES=paypal", args: up},
		{env: "FUNNELWORK_OAUTH_X_CLIENT_ID=abc", args: up},
		{env: "FUNNELWORK_PLANS=/nonexistent/plans.yaml", args: up},
		{env: "FUNNELWORK_PUBLIC_URL=example.com", args: up},
		{env: "FUNNELWORK_OPS_PASSWORD=hunter2", args: up},
	} {
		shown := u.output(t, dir)
		lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
		switch {
		case len(lines) != 3 || !strings.HasPrefix(lines[1], "funnelwork: ") || lines[2] != "exit status 1":
			t.Errorf("want one line that begins with \"funnelwork: \", and exit status 1:\n%s", shown)
		case strings.Contains(lines[1], "hunter2"):
			t.Errorf("the password is repeated:\n%s", shown)
		}
		shown = everywhere.ReplaceAllString(shown, "{address} can")
		shown = strings.ReplaceAll(shown, busy.Addr().String(), "{busy}")
		got = append(got, strings.ReplaceAll(shown, redis.Addr(), "{redis}"))
	}
	golden(t, "wrong_uses.golden", strings.Join(got, "\n"))
	if left, _ := filepath.Glob(filepath.Join(dir, ".funnelwork", "*")); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}
