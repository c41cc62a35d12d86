package mail

import (
	"strings"
	"unicode"
)

// quote makes a name from outside fit for the text of a mail: one line, and nothing that a mail program turns into a link.
func quote(name string) string { return unlinked(oneLine(name)) }

// nameMax is how much of a name a mail shows, in characters.
const nameMax = 80

// oneLine keeps a name from starting a new header or paragraph, and from marking a place for another.
func oneLine(name string) string {
	name = strings.NewReplacer(markBegin, "", markElse, "", markEnd, "").Replace(strings.ToValidUTF8(name, ""))
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(name); len(r) > nameMax {
		name = string(r[:nameMax]) + "…"
	}
	return name
}

// wordJoiner shows nothing and ends what mail programs take for the name of a host.
const wordJoiner = "\u2060"

// dots end a label of a domain: the full stop and those that IDNA maps to it.
const dots = ".\u3002\uff0e\uff61"

// unlinked puts a word joiner after each dot before a letter, or before a label that begins with digits and has a letter,
// and between the colon and the slashes of a URL. The name looks as before, and is no link in any mail program.
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

// label is the letters and digits that text begins with.
func label(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }
