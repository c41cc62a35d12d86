package auth

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Prefixes of the opaque credentials. A credential is its prefix and, in base64url, the org's 16 bytes and 32 random
// ones. The org lets the row be found under the org's policy. The hash covers the whole text.
const (
	refreshPrefix = "fr_"
	invitePrefix  = "fi_"
	linkPrefix    = "fl_" // reset and verify links: they concern a user, so the org is zero
)

// newOpaque generates a credential and the SHA-256 that is stored instead of it.
func newOpaque(prefix string, org id.ID) (text string, hash []byte) {
	var raw [48]byte
	copy(raw[:16], org[:])
	_, _ = rand.Read(raw[16:]) // never fails
	text = prefix + base64.RawURLEncoding.EncodeToString(raw[:])
	sum := digestOf(text)
	return text, sum[:]
}

// orgOf returns the org of a credential with the format of newOpaque.
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

// NewInvitation generates an invitation's token and the hash to store.
func NewInvitation(org id.ID) (token string, hash []byte) { return newOpaque(invitePrefix, org) }

// ReadInvitation returns the org and the stored hash of an invitation's token.
func ReadInvitation(token string) (org id.ID, hash []byte, ok bool) {
	org, ok = orgOf(invitePrefix, token)
	sum := digestOf(token)
	return org, sum[:], ok
}
