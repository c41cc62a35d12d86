package debian

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Store is a directory with trees, apt's private lists and a lock.
type Store struct {
	// Dir exists. As root, every user may enter it: servers run from its trees under another user.
	Dir string
	// Limit bounds each run of apt; 0 means five minutes.
	Limit time.Duration
	Log   *slog.Logger
}

const defaultLimit = 5 * time.Minute

// Tree is an unpacked program. Root is the directory that corresponds to /.
type Tree struct{ Root string }

// Libraries returns the value of LD_LIBRARY_PATH with which the tree's programs run, "" if they need none.
func (t Tree) Libraries() string {
	var dirs []string
	for _, pattern := range []string{"usr/lib/*/*.so*", "lib/*/*.so*"} {
		files, _ := filepath.Glob(filepath.Join(escapeGlob(t.Root), pattern))
		for _, file := range files {
			dirs = append(dirs, filepath.Dir(file))
		}
	}

	slices.Sort(dirs)

	return strings.Join(slices.Compact(dirs), ":")
}

// Glob returns the files of the tree that match pattern, a relative path.
func (t Tree) Glob(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(t.Root), pattern))
	return found
}

// Trees returns the trees in dir whose name begins with the name of a package.
func Trees(dir, name string) []Tree {
	var trees []Tree
	roots, _ := filepath.Glob(filepath.Join(escapeGlob(dir), name+"*_*"))
	for _, root := range roots {
		trees = append(trees, Tree{root})
	}
	return trees
}

// escapeGlob returns a pattern of filepath.Glob that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// errName is the error of a directory that a library path or a value in apt's configuration cannot contain.
var errName = errors.New(`the directory for packages has a colon, a semicolon or a quotation mark in its name`)

// lock waits until no other process works in the store, and takes its lock. It says so when it waits.
func (s Store) lock(ctx context.Context) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()

	for waits := 0; ; waits++ {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		}

		if waits == 0 {
			s.Log.InfoContext(ctx, "waiting for another process that fetches packages", "directory", s.Dir)
		}

		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("another process is fetching packages into %s", s.Dir)
		case <-tick.C:
		}
	}
}
