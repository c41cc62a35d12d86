package parse

import "strings"

// shortestOurs is the number of bytes from which on a line is told to be one of our mail: a person may write a shorter
// one as well.
// Within a quotation shorter ones are recognized, too.
const (
	shortestOurs   = 14
	shortestQuoted = 6
)

// isOurs reports whether line i is one of the mail that is answered, or a part of one that another program has wrapped
// in its own way: the line before or behind it goes on then, or it is long.
func (r *replyReader) isOurs(i, shortest int) bool {
	if r.ours == "" {
		return false
	}
	key := lineKey(r.lines[i])
	switch {
	case len(key) < shortest:
		return false
	case strings.Contains(r.ours, "\n"+key+"\n"):
		return true
	case !strings.Contains(r.whole, key):
		return false
	}

	return len(key) >= longOurs || i > 0 && r.goesOn(i-1, i) || i+1 < len(r.lines) && r.goesOn(i, i+1)
}

// longOurs is the number of bytes from which on a part of a line is told to be one of ours.
const longOurs = 45

// goesOn reports whether two lines follow each other in the mail that is answered.
func (r *replyReader) goesOn(one, next int) bool {
	first, second := lineKey(r.lines[one]), lineKey(r.lines[next])
	return first != "" && second != "" && strings.Contains(r.whole, first+second)
}

// keysOf returns the keys of the lines of a text.
func keysOf(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(lineKey(line))
		b.WriteByte('\n')
	}
	return b.String()
}

// lineKey returns the letters and digits of a text in lower case.
func lineKey(line string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0xC0 || r >= 0x2000 && r < 0x2070 {
			return -1
		}
		return r
	}, strings.ToLower(line))
}
