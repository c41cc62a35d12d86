package contacts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold is what addresses and names are compared and sorted by: NFC and lower case.
func Fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return strings.ToLower(s)
	}
	return norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
}

const (
	maxWord  = 40 // bytes kept of one word
	maxWords = 24 // of one contact
)

// Words are the folded runs of letters and digits of the texts, each once, cut to 40 bytes; at most 24.
func Words(texts ...string) []string {
	out := make([]string, 0, 8)
	for _, t := range texts {
		for _, w := range strings.FieldsFunc(Fold(t), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			if w = cut(w, maxWord); !has(out, w) {
				if out = append(out, w); len(out) == maxWords {
					return out
				}
			}
		}
	}
	return out
}

// wordsOf are what q finds a contact by.
func wordsOf(c *Contact) []string { return Words(c.FirstName, c.LastName, c.Email) }

// cut is at most n bytes of s that end with a whole character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func has(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}
