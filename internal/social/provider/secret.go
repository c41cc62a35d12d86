package provider

import (
	"fmt"
	"log/slog"
)

// Secret is a token or a client secret. It shows itself to nobody who does not ask by Reveal: not to fmt, slog or
// encoding/json. One exception is fmt's: it cannot ask a value in an unexported field, so a struct that keeps a Secret
// there hides it by a Format of its own.
type Secret string

const hidden = "[secret]"

// Reveal answers the secret itself, for requests and for sealing.
func (s Secret) Reveal() string { return string(s) }

// Format hides the secret under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// String is "[secret]", or "" for none.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is String, to JSON as well.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
