package compare

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Text returns the form in which texts are compared. It is "" for a text that shows nothing.
func Text(s string) string {
	if plain(s) {
		return strings.ToLower(s)
	}
	for range maxPasses {
		folded := foldOnce(s)
		if folded == s {
			break
		}
		s = folded
	}
	return s
}

// Equal reports whether a and b are the same text.
func Equal(a, b string) bool { return a == b || Text(a) == Text(b) }

// maxPasses bounds the repetitions of foldOnce. Two suffice for all of Unicode but sequences of marks that
// normalization reorders.
const maxPasses = 4

// plain reports whether s is ASCII without control characters, blanks at its ends and runs of blanks, so that only its
// capitals have to be folded.
func plain(s string) bool {
	blank := true
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, c < ' ', c == 0x7f, c == ' ' && blank:
			return false
		default:
			blank = c == ' '
		}
	}
	return !blank || s == ""
}

// foldOnce folds s as Unicode's canonical caseless matching does (D145): decomposed first, because case folding is
// defined by characters, and composed last.
func foldOnce(s string) string {
	s = strings.Map(foldCherokee, strings.Map(dropInvisible, norm.NFD.String(s)))
	s = cases.Fold().String(s)
	return norm.NFC.String(collapse(s))
}

// collapse trims blanks and replaces each run of blanks by one space.
func collapse(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	pending := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			pending = b.Len() > 0
			continue
		}
		if pending {
			b.WriteByte(' ')
			pending = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// foldCherokee folds the small letters of Cherokee to its capitals, which are the older ones. Package cases leaves
// both.
func foldCherokee(r rune) rune {
	switch {
	case 0xab70 <= r && r <= 0xabbf:
		return r - 0xab70 + 0x13a0
	case 0x13f8 <= r && r <= 0x13fd:
		return r - 8
	}
	return r
}

func dropInvisible(r rune) rune {
	if Invisible(r) {
		return -1
	}
	return r
}

// Invisible reports whether r leaves no trace on a screen: control characters other than blanks, and what Unicode
// calls default ignorable.
func Invisible(r rune) bool {
	switch {
	case unicode.IsSpace(r):
		return false
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && (r < 0xfff9 || r > 0xfffb) &&
			(r < 0x13430 || r > 0x1345f) // marks of Arabic numbers, of annotations and of hieroglyphs are seen
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
