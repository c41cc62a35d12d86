package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func needApt(t *testing.T) {
	t.Helper()
	for _, name := range []string{"apt-get", "apt-cache", "dpkg-deb"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("SKIPPED FOR WANT OF APT: ", err)
		}
	}
}

// withoutPackages leads apt to a machine without sources and without packages.
func withoutPackages(t *testing.T) {
	t.Helper()
	aptSource(t, "")
}

// aptSource leads apt to a machine without packages, and with source as the only source.
func aptSource(t *testing.T, source string) {
	t.Helper()
	dir := reachableDir(t)
	for name, content := range map[string]string{
		"status": "", "sources.list": source + "\n", "apt.conf": fmt.Sprintf(`Dir::State::status "%[1]s/status";
Dir::State::lists "%[1]s/lists";
Dir::Etc::sourcelist "%[1]s/sources.list";
Dir::Etc::sourceparts "%[1]s/none";
`, dir),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"lists/partial", "none"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("APT_CONFIG", filepath.Join(dir, "apt.conf"))
}

// toolsAlone returns a PATH with empty programs of the given names.
func toolsAlone(t *testing.T, names ...string) string {
	t.Helper()
	dir := reachableDir(t)
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pathWithout returns a PATH with links to all programs but the named one.
func pathWithout(t *testing.T, hidden string) string {
	t.Helper()
	links := reachableDir(t)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.Name() != hidden {
				_ = os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(links, e.Name()))
			}
		}
	}
	return links
}

// redisPackage makes a source with a redis-server package, whose program is a link to the installed one, and leads apt
// to it.
func redisPackage(t *testing.T, installed string) {
	t.Helper()
	needApt(t)
	source, root := reachableDir(t), reachableDir(t)
	arch, err := exec.CommandContext(t.Context(), "dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	var index strings.Builder
	for _, name := range []string{"redis-server", "redis-tools"} {
		control := fmt.Sprintf("Package: %s\nVersion: 5:7.0.15-1\nArchitecture: %sMaintainer: Ada <ada@example.com>\n"+
			"Description: none\n", name, arch)
		tree := filepath.Join(root, name)
		for _, dir := range []string{"DEBIAN", "usr/bin"} {
			if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(tree, "DEBIAN", "control"), []byte(control), 0o644); err != nil {
			t.Fatal(err)
		}
		if name == "redis-server" {
			if err := os.Symlink(installed, filepath.Join(tree, "usr/bin/redis-server")); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(source, name+".deb")
		if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "-Znone", "--build", tree, file).
			CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		size, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := exec.CommandContext(t.Context(), "sha256sum", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&index, "%sFilename: ./%s.deb\nSize: %d\nSHA256: %s\n\n", control, name, size.Size(), sum[:64])
	}
	if err := os.WriteFile(filepath.Join(source, "Packages"), []byte(index.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	aptSource(t, "deb [trusted=yes] copy:"+source+" ./")
}

func TestWithoutAnInstalledRedisItIsFetchedOnce(t *testing.T) {
	installed, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("SKIPPED FOR WANT OF A SERVER: ", err)
	}
	redisPackage(t, installed)
	t.Setenv("PATH", pathWithout(t, "redis-server"))
	for _, name := range []string{"home", "with blanks", "a+b%41"} {
		home := filepath.Join(reachableDir(t), name)
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for range 2 {
			r, err := local.StartRedis(t.Context(), local.RedisOptions{Home: home, Log: logTo(&lines)})
			if err != nil {
				t.Fatal(err)
			}
			if r.Source != local.Packages || r.InProcess {
				t.Errorf("%s: source %q\n%s", name, r.Source, lines.String())
			}
			opt, err := redis.ParseURL(r.URL)
			if err != nil {
				t.Fatal(err)
			}
			c := redis.NewClient(opt)
			if err := c.Ping(t.Context()).Err(); err != nil {
				t.Error(err)
			}
			_ = c.Close()
			if err := r.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(lines.String(), `msg="fetching packages of the distribution"`); n != 1 {
			t.Errorf("%s: fetched %d times:\n%s", name, n, lines.String())
		}
	}
}

func TestAHomeWhoseNameAptCannotTakeHasAnInProcessRedis(t *testing.T) {
	needApt(t)
	withoutPackages(t)
	t.Setenv("PATH", pathWithout(t, "redis-server"))
	home := filepath.Join(reachableDir(t), "a:b")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	r, err := local.StartRedis(t.Context(), local.RedisOptions{Home: home, Log: logTo(&lines)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Stop(context.WithoutCancel(t.Context())) }()
	if !r.InProcess || !strings.Contains(lines.String(), "has a colon") {
		t.Errorf("source %q\n%s", r.Source, lines.String())
	}
}

func TestAllServersRunWithoutDownloadsIfNoneIsAllowed(t *testing.T) {
	testkit.DB(t)
	t.Setenv("PATH", pathWithout(t, "redis-server"))
	home := filepath.Join(reachableDir(t), "home")
	var lines strings.Builder
	s, err := local.Start(t.Context(), local.Wanted{Home: home, Repository: "none", Log: logTo(&lines)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.WithoutCancel(t.Context())) }()
	if s.PostgresSource != local.Installed || s.RedisSource != local.InProcess ||
		strings.Contains(lines.String(), "looking in") {
		t.Errorf("Postgres is %q, Redis is %q\n%s", s.PostgresSource, s.RedisSource, lines.String())
	}
}

func TestATemporaryDirectoryIsMadeWhereTheServersUserCanRemoveIt(t *testing.T) {
	t.Parallel()
	base := reachableDir(t)
	closed, open := filepath.Join(base, "closed"), filepath.Join(base, "open")
	for dir, mode := range map[string]os.FileMode{closed: 0o755, open: 0o777 | os.ModeSticky} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if got := local.Passing([]string{closed, filepath.Join(base, "missing"), open}, 65534); got != open {
		t.Errorf("chosen: %s, want the one with mode 1777", got)
	}
}
