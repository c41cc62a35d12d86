package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Load reads the keyset file at path. A file that others than its owner may read is refused.
func Load(path string) (*Box, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read keyset: %s may be read by others than its owner (mode %04o); chmod 600 it", path, info.Mode().Perm())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	b, err := open(raw)
	if err != nil {
		return nil, err
	}
	b.path, b.loaded = path, info.ModTime()
	return b, nil
}

// Create is Load, after making the file with one new key where there is none. Processes that start at once
// all end up with the same keyset: the first to link its file into place wins.
func Create(path string) (*Box, error) {
	if b, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make keyset: %w", err)
	}
	err = place(path, h, func(tmp string) error {
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

// Rotate adds a key to the file at path and makes it the one that seals. The older keys stay, since what they
// sealed must still open. Two rotations at once may leave the key of only one of them; nothing was sealed
// with the other yet unless its process went on, so run it from one place.
func Rotate(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read keyset: %w", err)
	}
	h, err := decode(raw)
	if err != nil {
		return err
	}
	m := keyset.NewManagerFromHandle(h)
	added, err := m.Add(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("add key: %w", err)
	}
	if err := m.SetPrimary(added); err != nil {
		return fmt.Errorf("add key: %w", err)
	}
	if h, err = m.Handle(); err != nil {
		return fmt.Errorf("add key: %w", err)
	}
	return place(path, h, func(tmp string) error { return os.Rename(tmp, path) })
}

// place writes the keyset beside path, to the disk, and lets put bring it there in one step.
func place(path string, h *keyset.Handle, put func(tmp string) error) error {
	raw, err := encode(h)
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

// reload reads the file again if it has changed since, and tells whether it had.
func (b *Box) reload() bool {
	if b.path == "" {
		return false
	}
	info, err := os.Stat(b.path)
	if err != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if info.ModTime().Equal(b.loaded) {
		return false
	}
	fresh, err := Load(b.path)
	if err != nil {
		return false
	}
	b.aead, b.loaded = fresh.aead, fresh.loaded
	return true
}
