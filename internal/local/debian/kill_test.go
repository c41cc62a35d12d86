package debian_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/local/debian"
)

// A process is killed while it runs a program of apt, before or after the program's work. The program goes on, and the
// next process waits for its end.
func TestAFetchAfterAKilledOneStartsAnew(t *testing.T) {
	for name, c := range map[string]struct{ program, argument string }{
		"lists":       {"apt-get", "update"},
		"download":    {"apt-get", "download"},
		"unpacking":   {"dpkg-deb", "redis-server"},
		"last unpack": {"dpkg-deb", "redis-tools"},
	} {
		for _, order := range []string{"before", "after"} {
			t.Run(name+" "+order, func(t *testing.T) {
				r := newRepository(t)
				r.addRedis(t, "7.0.15")
				s, lines := store(t)
				reached, goOn := blocking(t, order, c.program, c.argument)
				cmd := fetching(t, s.Dir)
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(reached)+":"+os.Getenv("PATH"))
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the program is reached", func() bool { _, err := os.Stat(reached); return err == nil })
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				if trees := debian.Trees(s.Dir, "redis-server"); len(trees) > 0 {
					t.Errorf("a killed fetch has left %v", trees)
				}
				brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				if _, err := s.Redis(brief); err == nil || !strings.Contains(err.Error(), "is fetching packages") {
					t.Errorf("while the killed fetch's program runs: %v", err)
				}
				write(t, goOn, "")
				if _, err := s.Redis(t.Context()); err != nil {
					t.Fatalf("%v\n%s", err, lines)
				}
				if diff := cmp.Diff([]string{"redis-server_7.0.15"}, names(t, s.Dir)); diff != "" {
					t.Errorf("in the store (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// blocking returns two files in a directory with a program of the given name, which runs the real one. With the given
// word in an argument it creates the first file, before or after its work, and waits for the second.
func blocking(t *testing.T, order, program, word string) (reached, goOn string) {
	t.Helper()
	dir := openDir(t)
	reached, goOn = filepath.Join(dir, "reached"), filepath.Join(dir, "go-on")
	script := `#!/bin/sh
PATH=${PATH#*:}
block() {
	case "$*" in *` + word + `*) : >` + reached + `; until [ -e ` + goOn + ` ]; do sleep 0.02; done ;; esac
}
[ ` + order + ` = after ] || block "$@"
` + program + ` "$@"
code=$?
[ ` + order + ` = before ] || block "$@"
exit $code
`
	write(t, filepath.Join(dir, program), script)
	return reached, goOn
}

// eventually waits for another process.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within a minute: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
