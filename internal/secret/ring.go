package secret

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Ring holds the ids of a keyset's keys: all of them open, the primary one seals. Ids are not secret.
type Ring struct {
	Keys    []uint32 // in the order in which they were added
	Primary uint32
}

// Newest returns the key that was added last.
func (r Ring) Newest() uint32 { return r.Keys[len(r.Keys)-1] }

// Holds reports whether the ring has the key.
func (r Ring) Holds(key uint32) bool { return slices.Contains(r.Keys, key) }

func ringOf(h *keyset.Handle) Ring {
	info := h.KeysetInfo()
	r := Ring{Primary: info.GetPrimaryKeyId()}
	for _, k := range info.GetKeyInfo() {
		r.Keys = append(r.Keys, k.GetKeyId())
	}
	return r
}

// Add returns the keyset with a new key, which opens but does not seal, and the key's id.
func Add(text string) (next string, key uint32, err error) {
	next, err = editKeyset(text, func(m *keyset.Manager) error {
		key, err = m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
	return next, key, err
}

// Promote returns the keyset with the key as its primary one.
func Promote(text string, key uint32) (string, error) {
	return editKeyset(text, func(m *keyset.Manager) error { return m.SetPrimary(key) })
}

// Drop returns the keyset without the key; what the key sealed can no longer be opened. The primary key cannot be
// dropped.
func Drop(text string, key uint32) (string, error) {
	return editKeyset(text, func(m *keyset.Manager) error { return m.Delete(key) })
}

// editKeyset changes a keyset in the form that Parse takes.
func editKeyset(text string, change func(*keyset.Manager) error) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", fmt.Errorf("read keyset: want base64: %w", err)
	}

	h, err := decodeKeyset(raw)
	if err != nil {
		return "", err
	}

	m := keyset.NewManagerFromHandle(h)
	if err := change(m); err != nil {
		return "", fmt.Errorf("change keyset: %w", err)
	}
	if h, err = m.Handle(); err != nil {
		return "", fmt.Errorf("change keyset: %w", err)
	}
	if raw, err = encodeKeyset(h); err != nil {
		return "", err
	}

	return base64.StdEncoding.EncodeToString(raw), nil
}
