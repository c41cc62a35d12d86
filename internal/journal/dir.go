package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Dir is a directory of files that are written atomically. It is safe for concurrent use, also by several processes.
type Dir struct{ path string }

// unfinished is the prefix of a file that is being written. A process that is killed leaves it behind.
const unfinished = ".new-"

// staleAfter is the age from which an unfinished file belongs to a process that was killed.
const staleAfter = time.Hour

// Open opens the directory. It creates the directory if needed, readable by its owner only, and checks that it is
// writable.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	d := &Dir{path}
	probe, err := d.Write(".probe", nil)
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process with the same directory removed it
		return nil, fmt.Errorf("open journal: %w", err)
	}
	d.removeUnfinished(time.Now())
	return d, nil
}

// removeUnfinished removes the files that killed processes have left behind.
func (d *Dir) removeUnfinished(now time.Time) {
	files, err := filepath.Glob(filepath.Join(d.path, unfinished+"*"))
	if err != nil {
		return
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) > staleAfter {
			_ = os.Remove(file)
		}
	}
}

// Write creates or replaces a file atomically, and returns its path when it is synced to disk.
func (d *Dir) Write(name string, body []byte) (path string, err error) {
	f, err := d.write(name, body)
	if err != nil {
		return "", err
	}
	return filepath.Join(d.path, name), f.Close()
}

// write is Write that returns the open file, which is locked if it can be.
func (d *Dir) write(name string, body []byte, prepare ...func(*os.File) error) (_ *os.File, err error) {
	f, err := os.CreateTemp(d.path, unfinished+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(body); err != nil {
		return nil, err
	}
	if err = f.Sync(); err != nil {
		return nil, err
	}
	for _, step := range prepare {
		if err = step(f); err != nil {
			return nil, err
		}
	}
	if err = os.Rename(f.Name(), filepath.Join(d.path, name)); err != nil {
		return nil, err
	}
	return f, d.sync()
}

// sync syncs the names of the files to disk.
func (d *Dir) sync() error {
	dir, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Files returns the paths of the files whose names have the prefix and the suffix, sorted by name.
func (d *Dir) Files(prefix, suffix string) ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			out = append(out, filepath.Join(d.path, e.Name()))
		}
	}
	return out, nil
}
