package filter

import (
	"unicode"
	"unicode/utf8"
)

// leastAbove returns the least text that is greater than every text with the prefix s, or false if there is none. The
// order of UTF-8 bytes equals the order of code points.
func leastAbove(s string) (string, bool) {
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		switch r {
		case unicode.MaxRune:
			continue
		case 0xD7FF:
			r = 0xE000
		default:
			r++
		}
		return s + string(r), true
	}
	return "", false
}
