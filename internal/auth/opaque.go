package auth

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Prefixes of the opaque credentials; each is the org's 16 bytes and 32 random ones in base64url. The org in
// front lets the row be found under the org's policy; the hash covers the whole text.
const (
	refreshPrefix = "fr_"
	invitePrefix  = "fi_"
	linkPrefix    = "fl_" // reset and verify links: about a person, so the org is zero
)

// newOpaque makes a credential and the SHA-256 that is stored in its place.
func newOpaque(prefix string, org id.ID) (text string, hash []byte) {
	var raw [48]byte
	copy(raw[:16], org[:])
	_, _ = rand.Read(raw[16:]) // never fails
	text = prefix + base64.RawURLEncoding.EncodeToString(raw[:])
	sum := digestOf(text)
	return text, sum[:]
}

// orgOf reads the org out of a credential that newOpaque may have made.
func orgOf(prefix, text string) (id.ID, bool) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok || len(rest) != 64 {
		return id.ID{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil {
		return id.ID{}, false
	}
	return id.ID(raw[:16]), true
}

// NewInvitation makes an invitation's token and the hash to store.
func NewInvitation(org id.ID) (token string, hash []byte) { return newOpaque(invitePrefix, org) }

// ReadInvitation answers the org and the stored hash that an invitation's token stands for.
func ReadInvitation(token string) (org id.ID, hash []byte, ok bool) {
	org, ok = orgOf(invitePrefix, token)
	sum := digestOf(token)
	return org, sum[:], ok
}
