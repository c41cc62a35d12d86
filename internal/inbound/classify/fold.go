package classify

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plain has the letters that are written with a sign which their decomposition does not show.
var plain = strings.NewReplacer("ß", "ss", "ø", "o", "æ", "ae", "œ", "oe", "ł", "l", "đ", "d", "ı", "i", "ё", "е",
	"’", "'", "‘", "'", "´", "'", "`", "'", "\u00a0", " ", "\u202f", " ")

// fold returns a text in lower case without accents on Latin and Greek letters, since people leave them out.
func fold(s string) string {
	s = plain.Replace(strings.ToLower(s))
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	isLatin := false
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			if isLatin {
				continue
			}
		} else {
			isLatin = r < 0x400
		}
		b.WriteRune(r)
	}
	return plain.Replace(norm.NFC.String(b.String()))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
