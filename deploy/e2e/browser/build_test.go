package browser

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// buildDir is a directory that TestMain creates and removes.
var buildDir string

// binary builds the service once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	at := filepath.Join(buildDir, "funnelwork")
	build := exec.Command("go", "build", "-o", at, ".")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return at, nil
})

// migrated is a home whose database has the schema, and a user that no test uses. Making one takes longer than most
// tests, so each server begins with a copy of it.
var migrated = sync.OnceValues(func() (string, error) {
	at, err := binary()
	if err != nil {
		return "", err
	}
	home := filepath.Join(buildDir, "home")
	up := exec.Command(at, "up", "--addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--seed-email=nobody@example.com")
	up.Dir = buildDir
	up.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + buildDir, "FUNNELWORK_HOME=" + home}
	var log bytes.Buffer
	up.Stderr = &log
	said, err := up.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := up.Start(); err != nil {
		return "", err
	}
	first, _ := bufio.NewReader(said).ReadString('\n') // up prints when it serves
	err = errors.Join(up.Process.Signal(syscall.SIGTERM), up.Wait())
	if err != nil || !strings.HasPrefix(first, "ready: ") {
		return "", fmt.Errorf("up: %w: %q: %s", err, first, &log)
	}
	return home, nil
})

// inhabit makes a new home at a path.
func inhabit(t *testing.T, path string) {
	t.Helper()
	from, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	// -a keeps the owner of the database: where tests run as root, the server's user.
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// built returns the path of the service's binary.
func built(t *testing.T) string {
	t.Helper()
	at, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("/tmp", "fw-browser-build-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err = os.Chmod(buildDir, 0o755); err != nil { // a private Postgres runs under another user
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}
