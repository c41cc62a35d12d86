package exports

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Link says which file of an org a link leads to. Whoever has it may read the file until it ends, without a credential.
type Link struct {
	Kind byte
	Org  id.ID
	ID   id.ID
	Ends time.Time // filled in by Sign and ParseLink
}

// FileLink is the kind of a link to an export's file.
const FileLink = 'f'

// A link ends with an hour, so that the same file has the same link for a while, and is good for one hour at least.
const linkTime = time.Hour

const (
	linkBody = 1 + 16 + 16 + 8
	linkSize = linkBody + sha256.Size
)

// Sign is the token of a link, for a path; key is the file's own.
func Sign(l Link, key []byte, now time.Time) string {
	ends := now.Truncate(linkTime).Add(2 * linkTime)
	b := append([]byte{l.Kind}, l.Org[:]...)
	b = binary.BigEndian.AppendUint64(append(b, l.ID[:]...), uint64(ends.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, mac(b, key)...))
}

func mac(b, key []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(b)
	return h.Sum(nil)
}

// Signed is a token that says where it leads and is not believed yet.
type Signed struct {
	Link
	body, mac []byte
}

// ParseLink reads a token; false where it cannot be one.
func ParseLink(token string) (*Signed, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != linkSize {
		return nil, false
	}
	s := &Signed{body: b[:linkBody], mac: b[linkBody:]}
	s.Kind = b[0]
	copy(s.Org[:], b[1:17])
	copy(s.ID[:], b[17:33])
	s.Ends = time.Unix(int64(binary.BigEndian.Uint64(b[33:41])), 0).UTC()
	return s, true
}

// Good tells whether the file's key has signed it.
func (s *Signed) Good(key []byte) bool { return hmac.Equal(s.mac, mac(s.body, key)) }
