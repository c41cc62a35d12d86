// Package secret keeps what must not be read from a stolen database: it seals bytes under a keyset that lives
// outside Postgres, bound to a context so that one row's secret cannot be moved to another row.
//
// # Why Tink
//
// AES-256-GCM with the key's id in front of each sealing, several keys of which the primary seals and all
// open, and a documented file format: the parts that are easy to get wrong are somebody else's, well tested.
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

// Box seals and opens. It is safe for concurrent use. A box made from a file follows the file: it looks at it again
// before it seals, once a second at most, and when it meets a sealing that it cannot open. So a rotation reaches
// running processes without a restart, and one that stood still for an hour does not seal with a key of then.
type Box struct {
	path string // "" for a keyset given as a setting

	mu     sync.RWMutex
	aead   tink.AEAD
	ring   Ring
	loaded fs.FileInfo // the file as read
	looked time.Time   // when it was last compared with the file
}

// Seal encrypts plain, bound to about: the table, org and id that it belongs to, such as "webhook_endpoint/<org>/<id>".
func (b *Box) Seal(plain []byte, about string) ([]byte, error) {
	b.follow()
	sealed, err := b.current().Encrypt(plain, []byte(about))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// Open decrypts what Seal made under the same about; anything else is an error.
func (b *Box) Open(sealed []byte, about string) ([]byte, error) {
	plain, err := b.current().Decrypt(sealed, []byte(about))
	if err != nil && b.Reload() {
		plain, err = b.current().Decrypt(sealed, []byte(about))
	}
	if err != nil {
		return nil, fmt.Errorf("open sealed: %w", err)
	}
	return plain, nil
}

// Ring is what the box's keyset holds at this moment.
func (b *Box) Ring() Ring {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.ring
}

// Parse makes a box of a keyset given as text, in the form that Generate answers.
func Parse(text string) (*Box, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("read keyset: want base64: %w", err)
	}
	return open(raw)
}

// Generate answers a new keyset of one key as base64, for installs whose settings come from a secret store.
func Generate() (string, error) {
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return "", fmt.Errorf("make keyset: %w", err)
	}
	raw, err := encode(h)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

func (b *Box) current() tink.AEAD {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.aead
}

// open makes a box of a keyset's JSON.
func open(raw []byte) (*Box, error) {
	h, err := decode(raw)
	if err != nil {
		return nil, err
	}
	a, err := aead.New(h)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	return &Box{aead: a, ring: ringOf(h)}, nil
}

func decode(raw []byte) (*keyset.Handle, error) {
	h, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	return h, nil
}

func encode(h *keyset.Handle) ([]byte, error) {
	var out bytes.Buffer
	if err := insecurecleartextkeyset.Write(h, keyset.NewJSONWriter(&out)); err != nil {
		return nil, fmt.Errorf("write keyset: %w", err)
	}
	return out.Bytes(), nil
}
