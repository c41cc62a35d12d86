package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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
	if buildDir, err = os.MkdirTemp("", "fw-browser-build-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}
