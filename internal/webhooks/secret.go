package webhooks

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// prefix marks a secret whose rest is the key in base64, as Standard Webhooks writes it.
const prefix = "whsec_"

// newSecret makes one of 32 random bytes.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	return prefix + base64.StdEncoding.EncodeToString(key)
}

// checkSecret holds a chosen secret to the rules: 16 to 128 characters, and one that looks like whsec_ must be it.
func checkSecret(s string) error {
	if n := utf8.RuneCountInString(s); n < 16 || n > 128 {
		return fault.Invalid("secret", "invalid_length", "A secret has 16 to 128 characters.")
	}
	if encoded, ok := strings.CutPrefix(s, prefix); ok {
		// The decoder passes over line breaks, which receivers' decoders need not.
		if key, err := base64.StdEncoding.DecodeString(encoded); err != nil || strings.ContainsAny(encoded, "\r\n") || len(key) < 24 || len(key) > 64 {
			return fault.Invalid("secret", "invalid_format", "After whsec_ a secret is the base64 of 24 to 64 bytes.")
		}
	}
	return nil
}

// standardKey is the key of the Standard Webhooks signature: the decoded part of a whsec_ secret, the bytes of
// any other.
func standardKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, prefix); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return key
		}
	}
	return []byte(secret)
}

// about binds a sealed secret to its endpoint.
func about(org, endpoint id.ID) string {
	return "webhook_endpoint/" + org.String() + "/" + endpoint.String()
}
