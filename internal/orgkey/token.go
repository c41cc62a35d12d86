package orgkey

import (
	"crypto/subtle"
	"encoding/base64"
	"slices"
)

// macBytes is the length of the MAC in a token: 96 bits.
const macBytes = 12

// Token returns payload and a MAC of it as text for a path of a URL. Nobody without the key can issue a token, and one
// of another purpose is not accepted for this one. The payload can be read by anybody.
func (k Key) Token(purpose string, payload []byte) string {
	signed := slices.Concat(payload, k.Hash(purpose, string(payload))[:macBytes])
	return base64.RawURLEncoding.EncodeToString(signed)
}

// Payload returns the payload of a token, size bytes, which nothing vouches for until Issued does. It returns false for
// a text that is no token.
func Payload(token string, size int) (payload []byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != size+macBytes {
		return nil, false
	}
	return b[:size], true
}

// Issued reports whether token was issued for the purpose and the payload with this key.
func (k Key) Issued(purpose string, payload []byte, token string) bool {
	return subtle.ConstantTimeCompare([]byte(k.Token(purpose, payload)), []byte(token)) == 1
}
