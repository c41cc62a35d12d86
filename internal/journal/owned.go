package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Owned is a file that belongs to this process. A lock on it says so, which ends with the process. It is not safe for
// concurrent use.
type Owned struct {
	dir    *Dir
	name   string
	locked *os.File // nil: there is no file
}

// Own returns a file of this process, which does not exist until it is written. No other process may use the name.
func (d *Dir) Own(name string) *Owned { return &Owned{dir: d, name: name} }

// Write creates or replaces the file atomically, and returns when it is synced to disk. After an error the file is as
// it was, or as it was to be.
func (o *Owned) Write(body []byte) error {
	f, err := o.dir.write(o.name, body, lock)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	o.release()
	o.locked = f
	return nil
}

// Remove deletes the file, if there is one.
func (o *Owned) Remove() error {
	err := os.Remove(filepath.Join(o.dir.path, o.name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove journal: %w", err)
	}
	o.release()
	return nil
}

// Close gives the file up: another process may adopt it.
func (o *Owned) Close() { o.release() }

func (o *Owned) release() {
	if o.locked != nil {
		_ = o.locked.Close()
		o.locked = nil
	}
}

// Read returns the content of the file. A longer one than limit is cut there.
func (o *Owned) Read(limit int64) ([]byte, error) {
	if o.locked == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.NewSectionReader(o.locked, 0, limit))
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return body, nil
}

// Adopt takes over the files, with the prefix and the suffix, of processes that have ended.
func (d *Dir) Adopt(prefix, suffix string) ([]*Owned, error) {
	files, err := d.Files(prefix, suffix)
	if err != nil {
		return nil, err
	}
	var out []*Owned
	for _, path := range files {
		if f := lockFile(path); f != nil {
			out = append(out, &Owned{dir: d, name: filepath.Base(path), locked: f})
		}
	}
	return out, nil
}

// lockFile opens and locks a file. It returns nil if the file belongs to a process, or is not there any more.
func lockFile(path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if lock(f) == nil && isAt(f, path) {
		return f
	}
	_ = f.Close()
	return nil
}

// isAt reports whether a path still leads to f: its process may have replaced it before f was locked.
func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
