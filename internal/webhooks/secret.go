package webhooks

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// prefix marks a secret that is a base64 key, as specified by Standard Webhooks.
const prefix = "whsec_"

// newSecret returns a secret of 32 random bytes.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand aborts the process instead
	return prefix + base64.StdEncoding.EncodeToString(key)
}

// checkSecret validates a chosen secret: 16 to 128 characters, and a valid key after the prefix whsec_.
func checkSecret(s string) error {
	if n := utf8.RuneCountInString(s); n < 16 || n > 128 {
		return fault.Invalid("secret", "invalid_length", "A secret has 16 to 128 characters.")
	}
	if encoded, ok := strings.CutPrefix(s, prefix); ok {
		// The decoder ignores line breaks; receivers' decoders may not.
		if key, err := base64.StdEncoding.DecodeString(encoded); err != nil || strings.ContainsAny(encoded, "\r\n") ||
			len(key) < 24 || len(key) > 64 {
			return fault.Invalid("secret", "invalid_format", "After whsec_ a secret is the base64 of 24 to 64 bytes.")
		}
	}
	return nil
}

// standardKey returns the key of the Standard Webhooks signature: the decoded key of a whsec_ secret, otherwise the
// secret's bytes.
func standardKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, prefix); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return key
		}
	}
	return []byte(secret)
}

// secretContext returns the associated data that binds a sealed secret to its endpoint.
func secretContext(org, endpoint id.ID) string {
	return "webhook_endpoint/" + org.String() + "/" + endpoint.String()
}
