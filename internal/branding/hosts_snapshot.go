package branding

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// snapshot is the file's content. Increment the format's number with a change that an older program would misread.
type snapshot struct {
	Format  int                  `json:"format"`
	Version int64                `json:"version"`
	Hosts   map[string]hostEntry `json:"hosts"`
}

const snapshotFormat = 1

// readSnapshot returns nil if there is no file.
func readSnapshot(file string) (*hostTable, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing was known yet
	}

	if err != nil {
		return nil, err
	}

	var s snapshot
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}

	if s.Format != snapshotFormat {
		return nil, fmt.Errorf("unknown format %d", s.Format)
	}

	t := &hostTable{version: s.Version, hosts: map[string]hostEntry{}}
	for host, e := range s.Hosts {
		if e.Status.Served() {
			t.hosts[host] = e
		}
	}

	return t, nil
}

// writeSnapshot replaces the file atomically: a concurrent reader, or a reader after a crash, sees the old file or the
// new one.
func writeSnapshot(file string, t *hostTable) (err error) {
	b, err := json.Marshal(snapshot{Format: snapshotFormat, Version: t.version, Hosts: t.hosts})
	if err != nil {
		return err
	}

	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}

	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}

	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}

	return err
}
