package parse

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// guessed are the charsets of which one is guessed, the likelier ones first.
var guessed = []string{
	"windows-1252", "windows-1251", "koi8-r", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "windows-1250",
	"windows-1253", "windows-1254", "windows-1255", "windows-1256",
}

// maxGuess is how many bytes of a text are read to guess its charset.
const maxGuess = 8 << 10

// guessCharset returns the charset in which a text that is not UTF-8 reads best. declared, which may be "", is that of
// its header, and wins where others are no better.
func guessCharset(b []byte, declared string) string {
	if bytes.Contains(b, []byte("\x1b$")) || bytes.Contains(b, []byte("\x1b(J")) {
		return "iso-2022-jp"
	}
	sample := b[:min(len(b), maxGuess)]
	best, most := "windows-1252", -1<<30
	for i, name := range append([]string{declared}, guessed...) {
		enc, err := htmlindex.Get(name)
		if name == "" || err != nil {
			continue
		}
		text, err := enc.NewDecoder().Bytes(sample)
		if err != nil {
			continue
		}
		score := legibility(string(text))
		if i == 0 {
			score += 2 + len(sample)/200
		}
		if score > most {
			best, most = name, score
		}
	}

	return best
}

// frequent are the characters that Chinese and Korean texts have most of: the one, read in the charset of the other,
// has few of them.
const frequent = "的一是不了在人有我他这您好请谢可以邮件们来到时要就出会也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去" +
	"法学如都同现当没动面起看定天分还进小部其些主样理心她本前开但因只从想实這請謝個們來時會發後經對過還進開" +
	"이다는을의가에서고하한지니요습기도로를은사자시리어아대해인그나수스정일전제보부주여과만원안있게라세구장우오입면드까녕합감네"

// legibility says how much a text looks like one that somebody has written.
func legibility(s string) (score int) {
	var last rune
	for _, r := range s {
		switch {
		case r < 0x80:
			if unicode.IsLetter(r) && isForeign(last) {
				score -= 4
			}
		case r == utf8.RuneError, r < 0xA0, r >= 0xE000 && r <= 0xF8FF, r >= 0xFF61 && r <= 0xFF9F:
			score -= 8
		case r >= 0x3040 && r <= 0x30FF: // kana
			score += 4
		case r >= 0xAC00 && r <= 0xD7A3, r >= 0x4E00 && r <= 0x9FFF: // Hangul, Chinese characters
			score++
			if strings.ContainsRune(frequent, r) {
				score += 4
			}
			if last >= 0x3040 && last <= 0xD7A3 || !unicode.IsLetter(last) {
				score += 2
			} else if last < 0x80 {
				score -= 4
			}
		case isForeign(r):
			score += wordScore(last, r, unicode.IsLetter(last) && last > 0x250)
			if unicode.IsLetter(last) && last < 0x250 {
				score -= 3
			}
		case unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r):
			score -= 2
		case unicode.IsLetter(r): // Latin with a sign: letters without one are beside it
			score += wordScore(last, r, unicode.IsLetter(last) && last < 0x80)
			if unicode.IsLetter(last) && last >= 0x80 {
				score++ // a second one is neither likely nor unlikely
			}
		case strings.ContainsRune("€£–—…‘’“”„«»°§·•¿¡、。，！？「」：；（）", r):
			score++
		default:
			score--
		}
		last = r
	}

	return score
}

// isForeign reports whether a letter is of a script whose words have no Latin letters.
func isForeign(r rune) bool {
	return unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic)
}

// wordScore says how well a letter goes on from the one before it.
func wordScore(last, r rune, goesOn bool) int {
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(last):
		return -3
	case goesOn:
		return 2
	case unicode.IsLetter(last):
		return -1
	}
	return 1
}

// looksLikeUTF8 reports whether a text that is declared to be in another charset is UTF-8: what is not, hardly ever is
// valid in it.
func looksLikeUTF8(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range b {
		if c >= 0x80 {
			return true
		}
	}
	return false
}

// metaCharset returns the charset that the beginning of an HTML part names, or "".
func metaCharset(b []byte) string {
	head := bytes.ToLower(b[:min(len(b), 2048)])
	at := bytes.Index(head, []byte("charset="))
	if at < 0 {
		return ""
	}
	name := strings.TrimLeft(string(head[at+len("charset="):]), `"' `)
	if end := strings.IndexAny(name, "\"'/> ;\r\n"); end >= 0 {
		name = name[:end]
	}
	return name
}
