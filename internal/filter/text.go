package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold is what addresses and names are compared and sorted by: NFC and lower case.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
		}
	}
	return strings.ToLower(s)
}

const (
	maxWord  = 40 // bytes kept of one word
	maxWords = 24 // of one row
)

// Words are the folded runs of letters and digits of the texts, each once, cut to 40 bytes; at most 24.
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

// Cut is at most n bytes of s that end with a whole character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// above is the least text that is greater than every text which begins with s; false where there is none. By bytes
// and by code points UTF-8 is in one order.
func above(s string) (string, bool) {
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
