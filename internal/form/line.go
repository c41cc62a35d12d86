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
