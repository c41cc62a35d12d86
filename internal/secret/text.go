package secret

import (
	"fmt"
	"log/slog"
)

// Text is a password or a token. Only Reveal returns it; fmt, slog and encoding/json show a placeholder. There is one
// exception: fmt cannot call the methods of a value in an unexported field, so a struct with such a field needs its own
// Format.
type Text string

// Reveal returns the secret itself.
func (t Text) Reveal() string { return string(t) }

// Format hides the secret under every verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// String returns "[secret]", or "" for an empty secret.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return "[secret]"
}

// LogValue returns String.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText returns String; encoding/json uses it too.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
