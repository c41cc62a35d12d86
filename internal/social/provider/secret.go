package provider

import (
	"fmt"
	"log/slog"
)

// Secret is a token or a client secret. Only Reveal returns it; fmt, slog and encoding/json show a placeholder. There
// is one exception: fmt cannot call the methods of a value in an unexported field, so a struct with such a field needs
// its own Format.
type Secret string

const hidden = "[secret]"

// Reveal returns the secret itself, for requests and for sealing.
func (s Secret) Reveal() string { return string(s) }

// Format hides the secret under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// String returns "[secret]", or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// LogValue returns String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns String; encoding/json uses it too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
