package classify

import (
	"regexp"
	"strings"
)

var sentenceEnd = regexp.MustCompile(`[.!?…]+["')\]]*(?:\s+|$)|[。！？]+|\n+`)

// maxSentences bounds the sentences of a text.
const maxSentences = 200

// sentencesOf returns the sentences of a text with what ends them. A line is one, and so is what ends in a full stop.
func sentencesOf(text string) (out []string) {
	text = joinWrapped(text)
	from := 0
	add := func(to int) {
		if s := strings.TrimSpace(text[from:to]); strings.ContainsFunc(s, isLetter) {
			out = append(out, s)
		}
		from = to
	}
	for _, at := range sentenceEnd.FindAllStringIndex(text, maxSentences) {
		if isAbbreviated(text[from:at[0]], text[at[0]:at[1]], text[at[1]:]) {
			continue
		}
		add(at[1])
	}
	add(len(text))

	return out
}

var (
	// abbreviated matches what ends in a full stop within a sentence: a letter, a title.
	abbreviated = regexp.MustCompile(`(?:^|[\s(])(?:\pL|mr|mrs|ms|dr|hr|fr|st|bzw|ca|inkl|einschl|ext|tel|nr|resp|` +
		`ggf)$`)
	// dayNumber matches a number, which may be that of a day, and dayGoesOn what follows that of a day.
	dayNumber = regexp.MustCompile(`(?:^|[\s(])\d{1,2}$`)
	dayGoesOn = regexp.MustCompile(`^(?:\d|` + monthNames + `)`)
)

// isAbbreviated reports whether the full stop between before and after ends no sentence.
func isAbbreviated(before, end, after string) bool {
	return end == ". " &&
		(abbreviated.MatchString(before) || dayNumber.MatchString(before) && dayGoesOn.MatchString(after))
}

func isLetter(r rune) bool { return r > 127 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// joinWrapped joins lines that a mail program has wrapped: a long one, behind which the next goes on.
func joinWrapped(text string) string {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i, line := range lines {
		line = strings.TrimSpace(line)
		b.WriteString(line)
		if i == len(lines)-1 {
			break
		}
		if len(line) >= 50 && strings.TrimSpace(lines[i+1]) != "" && !strings.ContainsAny(line[len(line)-1:], ".!?:") {
			b.WriteByte(' ')
		} else {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
