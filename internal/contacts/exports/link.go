package exports

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Link identifies a file of an org. Anyone with the link may read the file until the link expires, without a
// credential.
type Link struct {
	Kind byte
	Org  id.ID
	ID   id.ID
	Ends time.Time // set by Sign and ParseLink
}

// FileLink is the kind of links to an export's file.
const FileLink = 'f'

// linkTime is the minimum validity of a link. A link expires on the full hour, so that one file keeps one link for a
// while.
const linkTime = time.Hour

const (
	linkBody = 1 + 16 + 16 + 8
	linkSize = linkBody + sha256.Size
)

// Sign returns the signed token of l for a URL path. key is the key of the file.
func Sign(l Link, key []byte, now time.Time) string {
	ends := now.Truncate(linkTime).Add(2 * linkTime)
	b := append([]byte{l.Kind}, l.Org[:]...)
	b = binary.BigEndian.AppendUint64(append(b, l.ID[:]...), uint64(ends.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, hmacSum(b, key)...))
}

func hmacSum(b, key []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(b)
	return h.Sum(nil)
}

// Signed is a parsed token with a signature that is not verified yet.
type Signed struct {
	Link
	body, mac []byte
}

// ParseLink parses a token. It returns false if the token is malformed.
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

// Good reports whether the token is signed with key, the key of the file.
func (s *Signed) Good(key []byte) bool { return hmac.Equal(s.mac, hmacSum(s.body, key)) }
