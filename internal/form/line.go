package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// NotInLine reports whether r has no place in a text of one line: a control character, or the end of a line or
// paragraph.
func NotInLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// CheckLine returns a 422 for field unless s is text of one line. Names go into the subjects and headers of mails and
// into logs, where a line end would begin something else.
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
