// Package secret protects secrets against the theft of the database. It seals bytes under a keyset that is kept outside
// Postgres, bound to a context so that a row's secret cannot be moved to another row.
//
// # Why Tink
//
// Tink provides AES-256-GCM with the key's id in front of each ciphertext, keysets in which the primary key seals and
// all keys open, and a documented file format. These are the parts that are easy to get wrong, and Tink's are well
// tested.
package secret

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer seals and opens secrets. It is safe for concurrent use. A sealer that was made from a file follows the file:
// it checks the file before it seals, at most once a second, and when it meets a ciphertext that it cannot open. So a
// rotation reaches running processes without a restart, and a process that was suspended for an hour does not seal with
// an outdated key.
type Sealer struct {
	path string // "" for a keyset given as a setting

	mu     sync.RWMutex
	aead   tink.AEAD
	ring   Ring
	loaded fs.FileInfo // the file as read
	looked time.Time   // when it was last compared with the file
}

// Seal encrypts plain, bound to about: the table, org and id of the owning row, such as "webhook_endpoint/<org>/<id>".
func (s *Sealer) Seal(plain []byte, about string) ([]byte, error) {
	s.reloadIfOld()
	sealed, err := s.currentAEAD().Encrypt(plain, []byte(about))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// Open decrypts what Seal encrypted under the same about; it returns an error for anything else.
func (s *Sealer) Open(sealed []byte, about string) ([]byte, error) {
	plain, err := s.currentAEAD().Decrypt(sealed, []byte(about))
	if err != nil && s.Reload() {
		plain, err = s.currentAEAD().Decrypt(sealed, []byte(about))
	}
	if err != nil {
		return nil, fmt.Errorf("open sealed: %w", err)
	}

	return plain, nil
}

// Ring returns the keys of the sealer's present keyset.
func (s *Sealer) Ring() Ring {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ring
}

// Parse returns a sealer for a keyset given as text, in the form that Generate returns.
func Parse(text string) (*Sealer, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("read keyset: want base64: %w", err)
	}
	return openJSON(raw)
}

// Generate returns a new keyset of one key as base64, for installs that keep their settings in a secret store.
func Generate() (string, error) {
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return "", fmt.Errorf("make keyset: %w", err)
	}

	raw, err := encodeKeyset(h)
	if err != nil {
		return "", err
	}

	return base64.StdEncoding.EncodeToString(raw), nil
}

func (s *Sealer) currentAEAD() tink.AEAD {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.aead
}

// openJSON returns a sealer for a keyset in JSON.
func openJSON(raw []byte) (*Sealer, error) {
	h, err := decodeKeyset(raw)
	if err != nil {
		return nil, err
	}

	a, err := aead.New(h)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}

	return &Sealer{aead: a, ring: ringOf(h)}, nil
}

func decodeKeyset(raw []byte) (*keyset.Handle, error) {
	h, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	return h, nil
}

func encodeKeyset(h *keyset.Handle) ([]byte, error) {
	var out bytes.Buffer
	if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&out)); err != nil {
		return nil, fmt.Errorf("write keyset: %w", err)
	}
	return out.Bytes(), nil
}
