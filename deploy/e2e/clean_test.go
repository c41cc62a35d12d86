package e2e_test

import (
	"bufio"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	strict = flag.Bool("strict", false, "hold starts to the promised times: nobody else uses the machine")
	clean  = flag.Bool("clean", false,
		"try `go run . up` with an empty home and module cache; minutes, and downloads")
	cleanTests = flag.Bool("clean-tests", false, "with -clean: run all tests there, too")
)

// A machine with Go and nothing else of ours: a fresh checkout of the committed files, an empty HOME, empty caches. Run
// as root, the test also runs as an ordinary user.
func TestACleanMachineNeedsNothingButGo(t *testing.T) {
	if !*clean {
		t.Skip("run with -clean")
	}
	proxy, err := exec.CommandContext(t.Context(), "go", "env", "GOPROXY", "GONOSUMDB", "GOFLAGS", "GONOSUMCHECK",
		"GOSUMDB").Output()
	if err != nil {
		t.Fatal(err)
	}
	network := strings.Split(string(proxy), "\n")
	users := map[string]uint32{"whoever runs the test": 0}
	if os.Geteuid() == 0 {
		users["an ordinary user"] = 65534
	}
	for name, uid := range users {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("/tmp", "fw-clean-") //nolint:usetesting // short enough for a socket in it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			checkout := filepath.Join(dir, "src")
			tree(t, "git", "clone", "-q", repository(t), checkout)
			attr := &syscall.SysProcAttr{Setpgid: true}
			if uid != 0 {
				tree(t, "chown", "-R", "65534:65534", dir)
				attr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
			}
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			env := []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GOPROXY=" + network[0], "GONOSUMDB=" + network[1],
				"GOSUMDB=" + network[4], "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local",
			}
			run := func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir, cmd.Env, cmd.SysProcAttr, cmd.Stderr = checkout, env, attr, os.Stderr
				return cmd
			}
			begin := time.Now()
			if err := run("build", "-o", os.DevNull, ".").Run(); err != nil {
				t.Fatalf("go build: %v", err)
			}
			t.Logf("built after %v", time.Since(begin).Round(time.Second))
			for _, start := range []struct {
				name  string
				limit time.Duration
			}{{"first", 5 * time.Second}, {"second", 2 * time.Second}} {
				cmd := run("run", ".", "up", "--addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0")
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				begin = time.Now()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(out)
				if !lines.Scan() || !strings.HasPrefix(lines.Text(), "ready: http://") {
					t.Errorf("%s start: said %q", start.name, lines.Text())
				}
				took := time.Since(begin) // includes the linking of each go run
				t.Logf("%s start: ready after %v, the build's share included", start.name, took.Round(time.Millisecond))
				if *strict && took > start.limit+10*time.Second {
					t.Errorf("%s start took %v", start.name, took)
				}
				if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				for lines.Scan() { // until the process has ended
				}
				err = cmd.Wait()
				if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
					t.Error(err)
				}
				if left := processesOf(dir); len(left) > 0 {
					t.Errorf("left behind: %s", strings.Join(left, "\n"))
				}
			}
			if *cleanTests {
				if out, err := run("test", "./...").Output(); err != nil {
					t.Errorf("go test ./...: %v\n%s", err, out)
				}
			}
		})
	}
}

func tree(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", argv[0], err, out)
	}
}
