package compare

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxWord    = 40 // bytes kept per word
	maxWords   = 24 // per query
	maxIndexed = 48 // per row
)

// Words returns the words of a query: the runs of letters and digits in texts, folded, without accents and duplicates,
// each cut to 40 bytes; at most 24. A text is found if each of them begins one of its Indexed words.
func Words(texts ...string) []string {
	out := make([]string, 0, 8)
	for _, t := range texts {
		for _, w := range splitWords(t) {
			if w = Cut(w, maxWord); !slices.Contains(out, w) {
				if out = append(out, w); len(out) == maxWords {
					return out
				}
			}
		}
	}
	return out
}

// Indexed returns the words that texts are found by: the words of each text, followed by the ends of those without
// blanks between their words (see unspaced), so that a query may begin at any of their characters; at most 48.
// Neighbors in such a script also make a word together, in both orders, as a family name and a given name are
// written.
func Indexed(texts ...string) []string {
	out := make([]string, 0, 8)
	add := func(w string) {
		if w = Cut(w, maxWord); w != "" && len(out) < maxIndexed && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	var all, joined []string
	for _, t := range texts {
		words := splitWords(t)
		all = append(all, words...)
		if whole := strings.Join(words, ""); whole != "" && isUnspaced(whole) {
			joined = append(joined, whole)
		}
	}
	for _, w := range all {
		add(w)
	}
	for i := 1; i < len(joined); i++ {
		all = append(all, joined[i]+joined[i-1], joined[i-1]+joined[i])
	}
	all = append(all, joined...)
	for _, w := range all {
		for at, r := range w {
			if unspaced(r) {
				add(w[at:])
			}
		}
	}
	return out
}

// splitWords returns the runs of letters and digits in t, folded and without accents.
func splitWords(t string) []string {
	return strings.FieldsFunc(bare(Text(t)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// bare returns folded text without accents and points. Letters with a stroke and ligatures, which do not decompose, are
// written as people type them.
func bare(s string) string {
	if plain(s) || s == "" {
		return s
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		if typed, is := typedAs[r]; is {
			b.WriteString(typed)
		} else if !unicode.In(r, accents) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// accents are the marks that people leave out when they type a name: those of Latin, Greek and Cyrillic letters, and
// the points of Hebrew and Arabic. The marks of other scripts are vowels and change the word.
var accents = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0300, Hi: 0x036f, Stride: 1},
	{Lo: 0x0591, Hi: 0x05bd, Stride: 1},
	{Lo: 0x05bf, Hi: 0x05c7, Stride: 1},
	{Lo: 0x0610, Hi: 0x061a, Stride: 1},
	{Lo: 0x064b, Hi: 0x065f, Stride: 1},
	{Lo: 0x0670, Hi: 0x0670, Stride: 1},
	{Lo: 0x1ab0, Hi: 0x1aff, Stride: 1},
	{Lo: 0x1dc0, Hi: 0x1dff, Stride: 1},
	{Lo: 0x20d0, Hi: 0x20ff, Stride: 1},
	{Lo: 0xfe20, Hi: 0xfe2f, Stride: 1},
}}

// typedAs holds the folded letters that have a base letter but no decomposition.
var typedAs = map[rune]string{
	'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ħ': "h", 'ı': "i", 'þ': "th", 'ŧ': "t", 'ŋ': "n",
	'ƀ': "b", 'ɓ': "b", 'ɗ': "d", 'ƒ': "f", 'ɨ': "i", 'ƙ': "k", 'ƚ': "l", 'ɵ': "o", 'ʉ': "u", 'ƶ': "z", 'ə': "e",
	'ʼ': "", 'ʻ': "", 'ʾ': "", 'ʿ': "", 'ĳ': "ij", 'ŀ': "l", 'ŉ': "n",
}

// unspaced reports whether r belongs to a script that puts no blank between words, or whose names are written without.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Bopomofo, unicode.Tibetan)
}

// isUnspaced reports whether all letters of s belong to such a script.
func isUnspaced(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) && !unspaced(r) && r != 'ー' }) &&
		strings.ContainsFunc(s, unspaced)
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
