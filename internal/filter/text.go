package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which addresses and names are compared and sorted: NFC and lower case.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
		}
	}
	return strings.ToLower(s)
}

const (
	maxWord  = 40 // bytes kept per word
	maxWords = 24 // per row
)

// Words returns the folded runs of letters and digits in texts, without duplicates, cut to 40 bytes; at most 24.
func Words(texts ...string) []string {
	out := make([]string, 0, 8)
	for _, t := range texts {
		for _, w := range strings.FieldsFunc(Fold(t), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			if w = Cut(w, maxWord); !slices.Contains(out, w) {
				if out = append(out, w); len(out) == maxWords {
					return out
				}
			}
		}
	}
	return out
}

// Cut returns at most the first n bytes of s, ending at a character boundary.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

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
