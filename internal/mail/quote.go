package mail

import (
	"strings"
	"unicode"
)

// quote makes an untrusted name safe for the text of a mail: one line, and nothing that a mail program turns into a
// link.
func quote(name string) string { return unlinked(oneLine(name)) }

// nameMax is the maximum number of characters of a name in a mail.
const nameMax = 80

// oneLine prevents a name from starting a new header or paragraph, and from containing a placeholder's marks.
func oneLine(name string) string {
	name = strings.NewReplacer(markBegin, "", markElse, "", markEnd, "").Replace(strings.ToValidUTF8(name, ""))
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if r := []rune(name); len(r) > nameMax {
		name = string(r[:nameMax]) + "…"
	}
	return name
}

// wordJoiner is invisible and ends what mail programs recognise as a host name.
const wordJoiner = "\u2060"

// dots separate the labels of a domain: the full stop and the characters that IDNA maps to it.
const dots = ".\u3002\uff0e\uff61"

// unlinked inserts a word joiner after each dot before a letter or before a label that starts with digits and contains
// a letter, and between the colon and the slashes of a URL. The name looks the same, and no mail program turns it into
// a link.
func unlinked(name string) string {
	var b strings.Builder
	var before rune
	for i, r := range name {
		inHost := strings.ContainsRune(dots, before) && hasLetter(label(name[i:]))
		if inHost || before == ':' && r == '/' {
			b.WriteString(wordJoiner)
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// label returns the leading letters and digits of text.
func label(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }
