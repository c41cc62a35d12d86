package debian_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a package source in a directory, and a machine that has no packages, no lists and this source alone.
type repository struct {
	dir   string // every user may enter it
	arch  string
	index strings.Builder
}

// newRepository skips the test without apt. APT_CONFIG leads apt to the machine of the repository.
func newRepository(t *testing.T) *repository {
	t.Helper()
	for _, name := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("SKIPPED FOR WANT OF APT: ", err)
		}
	}
	r := &repository{dir: openDir(t), arch: strings.TrimSpace(output(t, "dpkg", "--print-architecture"))}
	r.machine(t, "deb [trusted=yes] copy:"+r.dir+" ./")
	return r
}

// machine makes source the only one.
func (r *repository) machine(t *testing.T, source string) {
	t.Helper()
	for _, dir := range []string{"machine/lists/partial", "machine/none"} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(r.dir, "machine")
	write(t, filepath.Join(at, "status"), "")
	write(t, filepath.Join(at, "sources.list"), source+"\n")
	write(t, filepath.Join(at, "apt.conf"), fmt.Sprintf(`Dir::State::status "%[1]s/status";
Dir::State::lists "%[1]s/lists";
Dir::Etc::sourcelist "%[1]s/sources.list";
Dir::Etc::sourceparts "%[1]s/none";
Dir::Etc::preferencesparts "%[1]s/none";
`, at))
	t.Setenv("APT_CONFIG", filepath.Join(at, "apt.conf"))
}

// add adds a package with the given files; a name that ends in "@" is a symbolic link. depends may be empty.
func (r *repository) add(t *testing.T, name, version, arch, depends string, files map[string]string) {
	t.Helper()
	if arch == "" {
		arch = r.arch
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\n", name, version, arch)
	if depends != "" {
		control += "Depends: " + depends + "\n"
	}
	control += "Maintainer: Ada <ada@example.com>\nDescription: none\n"
	write(t, filepath.Join(root, "DEBIAN", "control"), control)
	for path, content := range files {
		if link, isLink := strings.CutSuffix(path, "@"); isLink {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o755),
				os.Symlink(content, filepath.Join(root, link))); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, filepath.Join(root, path), content)
	}
	_, noEpoch, found := strings.Cut(version, ":")
	if !found {
		noEpoch = version
	}
	file := name + "_" + noEpoch + "_" + arch + ".deb"
	output(t, "dpkg-deb", "-Znone", "--root-owner-group", "--build", root, filepath.Join(r.dir, file))
	content, err := os.ReadFile(filepath.Join(r.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&r.index, "%sFilename: ./%s\nSize: %d\nSHA256: %x\n\n",
		control, file, len(content), sha256.Sum256(content))
	write(t, filepath.Join(r.dir, "Packages"), r.index.String())
}

// addRedis adds a redis-server that prints its version, built as Debian's is.
func (r *repository) addRedis(t *testing.T, version string) {
	t.Helper()
	r.add(t, "redis-server", version, "", "redis-tools (= "+version+")", map[string]string{
		"usr/bin/redis-server@": "redis-check-rdb",
	})
	r.add(t, "redis-tools", version, "", "", map[string]string{
		"usr/bin/redis-check-rdb": "#!/bin/sh\necho 'Redis server v=7'\n",
	})
}

// write writes a file that every user may read and run, and its directory.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// openDir returns a new directory that every user may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fw-debian-") //nolint:usetesting // other users cannot enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func output(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
	return string(out)
}
