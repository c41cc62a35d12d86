package debian_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/local/debian"
)

// The test binary also acts as a process that fetches Redis into a directory: `debian.test fetch <dir>`.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "fetch" {
		log := slog.New(slog.NewTextHandler(os.Stderr, nil))
		if _, err := (debian.Store{Dir: os.Args[2], Log: log}).Redis(context.Background()); err != nil {
			log.Error("fetch failed", "error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// store returns a Store in a new directory, and its log.
func store(t *testing.T) (debian.Store, *strings.Builder) {
	t.Helper()
	var lines strings.Builder
	return debian.Store{Dir: openDir(t), Log: slog.New(slog.NewTextHandler(&lines, nil))}, &lines
}

// names returns the names in dir, without the lock and the lists.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, e := range entries {
		if e.Name() != "lock" && e.Name() != "lists" {
			found = append(found, e.Name())
		}
	}
	return found
}

func TestATreeHasAProgramAndTheDependenciesThatTheMachineLacks(t *testing.T) {
	r := newRepository(t)
	lib := "usr/lib/" + r.arch + "-linux-gnu/"
	bin := "usr/lib/postgresql/17/"
	r.add(t, "postgresql", "17+1", "all", "postgresql-17", nil)
	r.add(t, "postgresql-17", "17.2-0+deb13u1", "", "postgresql-client-17, libneeded1, liblater1, libllvm19, "+
		"postgresql-common, libpq-dev, perl", map[string]string{
		bin + "bin/postgres":   "#!/bin/sh\necho \"postgres (PostgreSQL) 17.2 $LD_LIBRARY_PATH\"\n",
		bin + "lib/llvmjit.so": "", bin + "lib/plpgsql.so": "",
	})
	r.add(t, "postgresql-client-17", "17.2-0+deb13u1", "", "", map[string]string{bin + "bin/psql": ""})
	r.add(t, "libneeded1", "1:2~rc1", "", "", map[string]string{lib + "libneeded.so.1": ""})
	r.add(t, "liblater1", "1", "", "", map[string]string{"lib/" + r.arch + "-linux-gnu/liblater.so.1": ""})
	r.add(t, "libllvm19", "1", "", "", map[string]string{lib + "libLLVM.so": ""})
	r.add(t, "postgresql-common", "1", "all", "", map[string]string{"usr/bin/pg_ctlcluster": ""})
	r.add(t, "libpq-dev", "1", "", "", map[string]string{"usr/include/libpq.h": ""})
	r.add(t, "perl", "1", "", "", map[string]string{"usr/bin/perl": ""})
	s, lines := store(t)
	tree, err := s.Postgres(t.Context(), 15, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, lines)
	}
	files := []string{}
	if err := filepath.WalkDir(tree.Root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, tree.Root+"/"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"lib/" + r.arch + "-linux-gnu/liblater.so.1", lib + "libneeded.so.1", bin + "bin/postgres", bin + "bin/psql",
		bin + "lib/plpgsql.so",
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	libs := tree.Root + "/lib/" + r.arch + "-linux-gnu:" + tree.Root + "/usr/lib/" + r.arch + "-linux-gnu"
	if got := tree.Libraries(); got != libs {
		t.Errorf("library path %s, want %s", got, libs)
	}
	if diff := cmp.Diff([]string{"postgresql-17_17.2-0+deb13u1"}, names(t, s.Dir)); diff != "" {
		t.Errorf("left in the store (-want +got):\n%s", diff)
	}
	if trees := debian.Trees(s.Dir, "postgresql-"); len(trees) != 1 || trees[0] != tree {
		t.Errorf("found %v, want %v", trees, tree)
	}
}

func TestTheMachinesListsAreUsedUntilTheyAreOutdated(t *testing.T) {
	r := newRepository(t)
	r.addRedis(t, "5:7.0.15-1")
	output(t, "apt-get", "update")
	s, lines := store(t)
	tree, err := s.Redis(t.Context())
	if err != nil || filepath.Base(tree.Root) != "redis-server_5-7.0.15-1" {
		t.Fatalf("%v, %v\n%s", tree, err, lines)
	}
	if strings.Contains(lines.String(), "fetching package lists") {
		t.Errorf("fetched lists:\n%s", lines)
	}
	r.index.Reset()
	for _, file := range []string{"redis-server", "redis-tools"} {
		if err := os.Remove(filepath.Join(r.dir, file+"_7.0.15-1_"+r.arch+".deb")); err != nil {
			t.Fatal(err)
		}
	}
	r.addRedis(t, "5:7.0.16-1")
	if tree, err = s.Redis(t.Context()); err != nil || filepath.Base(tree.Root) != "redis-server_5-7.0.16-1" {
		t.Errorf("%v, %v\n%s", tree, err, lines)
	}
	if strings.Count(lines.String(), "fetching package lists") != 1 {
		t.Errorf("fetched no lists:\n%s", lines)
	}
}

func TestWhatCannotBeFetchedSaysWhyAndLeavesNothing(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, r *repository)
		limit   time.Duration
		want    string
	}{
		"no package": {
			prepare: func(t *testing.T, r *repository) { r.add(t, "other", "1", "", "", nil) },
			want:    "Unable to locate package redis-server",
		},
		"an old version": {
			prepare: func(t *testing.T, r *repository) { r.addRedis(t, "5:6.0.16-1") },
			want:    "the distribution's version is too old: it has Redis 6.0.16, and 6.2 or later is needed",
		},
		"a source without a signature": {
			prepare: func(t *testing.T, r *repository) {
				r.addRedis(t, "7.0.15")
				r.machine(t, "deb copy:"+r.dir+" ./")
			},
			want: "does not have a Release file",
		},
		"a source without a signature that the machine allows": {
			prepare: func(t *testing.T, r *repository) {
				r.addRedis(t, "7.0.15")
				r.machine(t, "deb copy:"+r.dir+" ./")
				config := filepath.Join(r.dir, "machine", "apt.conf")
				content, err := os.ReadFile(config)
				if err != nil {
					t.Fatal(err)
				}
				write(t, config, string(content)+"Acquire::AllowInsecureRepositories \"true\";\n")
			},
			want: "packages could not be authenticated",
		},
		"a package with other contents": {
			prepare: func(t *testing.T, r *repository) {
				r.addRedis(t, "7.0.15")
				write(t, filepath.Join(r.dir, "redis-tools_7.0.15_"+r.arch+".deb"), "other")
			},
			want: "redis-tools",
		},
		"a package that does not run": {
			prepare: func(t *testing.T, r *repository) {
				r.add(t, "redis-tools", "7.0.15", "", "", nil)
				r.add(t, "redis-server", "7.0.15", "", "", map[string]string{
					"usr/bin/redis-server": "#!/bin/sh\necho cannot open libmissing.so >&2; exit 127\n",
				})
			},
			want: "the unpacked redis-server does not run: exit status 127: cannot open libmissing.so",
		},
		"a source that does not reply": {
			prepare: func(t *testing.T, r *repository) {
				r.machine(t, "deb [trusted=yes] http://ada:hunter2@"+silent.Addr().String()+"/debian stable main")
			},
			limit: 2 * time.Second, want: "did not end within 2s",
		},
		"a source that cannot be reached": {
			prepare: func(t *testing.T, r *repository) {
				r.machine(t, "deb [trusted=yes] http://ada:hunter2@127.0.0.1:1/debian stable main")
			},
			want: "127.0.0.1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, proxy := range []string{"http_proxy", "HTTP_PROXY", "all_proxy"} {
				t.Setenv(proxy, "")
			}
			r := newRepository(t)
			c.prepare(t, r)
			s, lines := store(t)
			s.Limit = c.limit
			_, err := s.Redis(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("err = %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error()+lines.String(), "hunter2") {
				t.Errorf("a password is shown: %v\n%s", err, lines)
			}
			if left := names(t, s.Dir); len(left) > 0 {
				t.Errorf("left in the store: %v", left)
			}
		})
	}
}

func TestAnOrdinaryUserFetches(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests are run by an ordinary user already")
	}
	r := newRepository(t)
	r.addRedis(t, "7.0.15")
	dir := openDir(t)
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := fetching(t, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff([]string{"redis-server_7.0.15"}, names(t, dir)); diff != "" {
		t.Errorf("in the store (-want +got):\n%s", diff)
	}
}

// fetching returns a process of any user that fetches Redis into dir.
func fetching(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(openDir(t), "debian.test")
	write(t, binary, string(content))
	cmd := exec.CommandContext(t.Context(), binary, "fetch", dir)
	cmd.Dir = "/"
	return cmd
}
