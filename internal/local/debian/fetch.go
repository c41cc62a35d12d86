package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// program describes what to fetch.
type program struct {
	name string
	// packages returns the packages with the program, the first of which names the tree.
	packages func(ctx context.Context, a *apt, config string) ([]string, error)
	// refuse returns an error if the resolved first package is of no use; nil allows every package.
	refuse func(pkg) error
	// probe returns the command that must succeed in an unpacked tree.
	probe func(Tree) []string
}

// fetchTree returns the tree of p, which it unpacks if there is none of the version in the sources. It uses the
// machine's lists of packages and, if these are empty or outdated, fetches lists of its own.
func (s Store) fetchTree(ctx context.Context, p program) (Tree, error) {
	if strings.ContainsAny(s.Dir, `:;"`) {
		return Tree{}, errName
	}

	limit := s.Limit
	if limit == 0 {
		limit = defaultLimit
	}

	waiting, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()

	lock, err := s.lock(waiting)
	if err != nil {
		return Tree{}, err
	}

	defer func() { _ = lock.Close() }()

	work := filepath.Join(s.Dir, "work")
	lists := filepath.Join(s.Dir, "lists")
	if err := os.RemoveAll(work); err != nil {
		return Tree{}, err
	}

	defer func() { _ = os.RemoveAll(work) }()

	if err := os.Mkdir(work, 0o755); err != nil { //nolint:gosec // apt downloads as another user
		return Tree{}, err
	}

	a, err := newApt(work, lists, lock, limit, s.Log)
	if err != nil {
		return Tree{}, err
	}

	s.Log.InfoContext(ctx, "looking in the distribution's packages", "program", p.name)
	packages, err := s.downloadPackages(ctx, a, a.config, p)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrTooOld) {
		s.Log.InfoContext(ctx, "fetching package lists, because the machine's are of no use",
			"program", p.name, "reason", err)
		packages, err = s.updateLists(ctx, a, p)
	}

	if err != nil {
		return Tree{}, err
	}

	return s.unpackTree(ctx, a, p, packages)
}

// updateLists fetches lists of packages, and then the packages of p. An update that fails in part is no error, because
// the part with p may be there.
func (s Store) updateLists(ctx context.Context, a *apt, p program) ([]pkg, error) {
	_, failed := a.run(ctx, "fetching package lists", "/", "apt-get", "-c", a.private, "-q", "-o", "APT::Status-Fd=1",
		"-o", "APT::Update::Error-Mode=any", "update")
	packages, err := s.downloadPackages(ctx, a, a.private, p)
	if err != nil && failed != nil {
		return nil, fmt.Errorf("update of the package lists: %w", failed)
	}

	return packages, err
}

// downloadPackages resolves and downloads the packages of p.
func (s Store) downloadPackages(ctx context.Context, a *apt, config string, p program) ([]pkg,
	error,
) {
	names, err := p.packages(ctx, a, config)
	if err != nil {
		return nil, err
	}

	packages, err := a.resolvePackages(ctx, config, names)
	if err != nil {
		return nil, err
	}

	if p.refuse != nil {
		if err := p.refuse(packages[0]); err != nil {
			return nil, err
		}
	}

	size := int64(0)
	argv := []string{"apt-get", "-c", config, "-q", "-o", "APT::Status-Fd=1", "download", "--"}
	for _, one := range packages {
		size += one.size
		argv = append(argv, one.packageSpec())
	}

	s.Log.InfoContext(ctx, "fetching packages of the distribution", "program", p.name,
		"version", packages[0].version, "packages", len(packages), "bytes", size)
	_, err = a.run(ctx, "fetching packages of the distribution", a.download, argv...)

	return packages, err
}

// unpackTree unpacks the downloaded packages into one tree.
func (s Store) unpackTree(ctx context.Context, a *apt, p program, packages []pkg) (Tree, error) {
	part := Tree{filepath.Join(s.Dir, "work", "tree")}
	if err := os.Mkdir(part.Root, 0o755); err != nil { //nolint:gosec // programs, for another user too
		return Tree{}, err
	}

	files, err := filepath.Glob(filepath.Join(escapeGlob(a.download), "*.deb"))
	if err != nil || len(files) < len(packages) {
		return Tree{}, fmt.Errorf("apt-get downloaded %d of %d packages", len(files), len(packages))
	}

	for _, file := range files {
		if _, err := a.run(ctx, "unpacking packages", "/", "dpkg-deb", "-x", file, part.Root); err != nil {
			return Tree{}, err
		}
	}

	for _, file := range part.Glob("usr/lib/postgresql/*/lib/llvmjit.so") {
		if err := os.Remove(file); err != nil {
			return Tree{}, err
		}
	}

	if err := part.runCommand(ctx, p.probe(part)); err != nil {
		return Tree{}, err
	}

	version := strings.ReplaceAll(packages[0].version, ":", "-")
	whole := Tree{filepath.Join(s.Dir, packages[0].name+"_"+version)}
	if err := os.RemoveAll(whole.Root); err != nil {
		return Tree{}, err
	}

	syscall.Sync() // a rename must not survive a loss of power that the files do not survive

	return whole, os.Rename(part.Root, whole.Root)
}

// runCommand runs a command of the tree.
func (t Tree) runCommand(ctx context.Context, argv []string) error {
	if len(argv) == 0 {
		return errors.New("the packages have no program that can be run")
	}

	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(aptEnv(), "LD_LIBRARY_PATH="+t.Libraries())
	if out, err := cmd.CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("the unpacked %s does not run: %w%s", filepath.Base(argv[0]), err,
			prefixed(": ", line))
	}

	return nil
}
