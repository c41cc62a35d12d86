package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// NotInLine reports whether r is not allowed in one-line text: a control character, or a line or paragraph separator.
func NotInLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// IsEmail reports whether s may be a mail address: one bare address, not longer than RFC 5321 allows, with a domain of
// at least two labels.
func IsEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	wrong := !ok || local == "" || len(local) > 64 || len(domain) < 3 || len(s) > 254 ||
		strings.ContainsAny(s, " \t\r\n\"(),:;<>[\\]") || strings.Contains(domain, "@") ||
		!strings.Contains(strings.Trim(domain, "."), ".") || strings.Contains(domain, "..") ||
		strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") || strings.HasPrefix(domain, "-")
	return !wrong && utf8.ValidString(s) && !strings.ContainsFunc(s, NotInLine)
}

// CheckLine returns a 422 for field unless s is one-line text. Names are used in mail subjects and headers and in logs,
// where a line end would inject a new line.
func CheckLine(field, s string) error {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, NotInLine) {
		return fault.Invalid(field, badCharacters, noControl)
	}
	return nil
}

const (
	badCharacters = "invalid_characters"
	noControl     = "Control characters are not allowed."
)
