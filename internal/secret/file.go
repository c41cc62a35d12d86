package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Load reads the keyset file at path. It refuses a file that users other than its owner can read.
func Load(path string) (*Sealer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil,
			fmt.Errorf("read keyset: %s is readable by users other than its owner (mode %04o); chmod 600 it", path,
				info.Mode().Perm())
	}

	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}

	b, err := openJSON(raw)
	if err != nil {
		return nil, err
	}

	b.path = path
	b.loaded = info
	b.looked = time.Now()

	return b, nil
}

// Create loads the keyset file at path; if there is none, it first creates one with one new key. Processes that start
// concurrently end up with the same keyset: the first to link its file into place wins.
func Create(path string) (*Sealer, error) {
	if b, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}

	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make keyset: %w", err)
	}

	err = placeFile(path, h, func(tmp string) error {
		if err := os.Link(tmp, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	return Load(path)
}

// Edit changes the keyset file at path atomically. It writes nothing if change returns the text unchanged. A concurrent
// edit makes Edit fail, and is not lost.
func Edit(path string, change func(text string) (string, error)) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read keyset: %w", err)
	}

	before := base64.StdEncoding.EncodeToString(raw)
	after, err := change(before)
	if err != nil || after == before {
		return err
	}

	next, err := base64.StdEncoding.DecodeString(after)
	if err != nil {
		return fmt.Errorf("write keyset: %w", err)
	}

	h, err := decodeKeyset(next)
	if err != nil {
		return err
	}

	return placeFile(path, h, func(tmp string) error {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, raw) {
			return cmp.Or(err, errors.New("the file was changed concurrently; try again"))
		}
		return os.Rename(tmp, path)
	})
}

// placeFile writes the keyset to a temporary file beside path, syncs it, and calls put to move it into place
// atomically.
func placeFile(path string, h *keyset.Handle, put func(tmp string) error) error {
	raw, err := encodeKeyset(h)
	if err != nil {
		return err
	}

	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".keyset-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write keyset: %w", err)
	}

	defer func() { _ = os.Remove(f.Name()) }()

	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write keyset: %w", err)
	}
	if err := put(f.Name()); err != nil {
		return fmt.Errorf("write keyset: %w", err)
	}

	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("write keyset: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("write keyset: %w", err)
	}

	return nil
}

// lookEvery is the least time between two checks of the file before sealing.
const lookEvery = time.Second

// reloadIfOld calls Reload, unless the file was checked less than lookEvery ago.
func (s *Sealer) reloadIfOld() {
	if s.path == "" {
		return
	}

	s.mu.RLock()
	fresh := time.Since(s.looked) < lookEvery
	s.mu.RUnlock()
	if !fresh {
		s.Reload()
	}
}

// Reload reads the file again if it has changed, and reports whether it had. If the file cannot be read, the sealer
// keeps its keyset.
func (s *Sealer) Reload() bool {
	if s.path == "" {
		return false
	}

	info, err := os.Stat(s.path)
	s.mu.Lock()
	defer s.mu.Unlock()

	s.looked = time.Now()
	// Each edit makes a new file, so two edits within one tick of the file system's clock still differ.
	if err != nil || os.SameFile(info, s.loaded) && info.ModTime().Equal(s.loaded.ModTime()) {
		return false
	}

	fresh, err := Load(s.path)
	if err != nil {
		return false
	}

	s.aead = fresh.aead
	s.ring = fresh.ring
	s.loaded = fresh.loaded

	return true
}
