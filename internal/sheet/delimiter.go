package sheet

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// delimiters are the delimiters that are detected, the most common first.
var delimiters = []byte{',', ';', '\t', '|'}

// delimiterNames are the names of delimiters in a request, besides the characters themselves.
var delimiterNames = map[string]byte{"comma": ',', "semicolon": ';', "tab": '\t', "pipe": '|'}

// delimiterOf returns the delimiter with a name, or a fault.
func delimiterOf(name string) (byte, error) {
	if c, is := delimiterNames[strings.ToLower(strings.TrimSpace(name))]; is {
		return c, nil
	}
	if len(name) == 1 && slices.Contains(delimiters, name[0]) {
		return name[0], nil
	}
	return 0, fault.Invalid("delimiter", "invalid_value", "A delimiter is comma, semicolon, tab or pipe.")
}

// declaredDelimiter returns the delimiter that the first line of a file declares, as in sep=;
func declaredDelimiter(text string) (byte, bool) {
	text = strings.TrimRight(text, " ")
	if len(text) > 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	if len(text) < 5 || !strings.EqualFold(text[:4], "sep=") {
		return 0, false
	}

	c := text[4]
	rest := strings.Trim(text[5:], `",;|`+"\t")
	isSign := c > ' ' && c < 0x7f && !strings.ContainsRune(`"'`, rune(c)) || c == '\t'

	return c, rest == "" && isSign
}

// detectDelimiter returns the delimiter that splits the most lines into the same number of cells. One that makes known
// names of the header's cells goes first.
func detectDelimiter(lines []line, known func(string) bool) byte {
	best, most := byte(','), 0.0
	for _, c := range delimiters {
		score := delimiterScore(lines, c)
		all := candidates(lines, c, known)
		if at := headerOf(all); score > 0 && at >= 0 && all[at].known > 0 {
			score++
		}
		if score > most {
			best, most = c, score
		}
	}
	return best
}

// delimiterScore rates a delimiter: the share of records with as many cells as most records have, and half of the share
// of records with fewer cells, which may lack their empty last ones. More cells decide between equal shares.
func delimiterScore(lines []line, comma byte) float64 {
	counts, records := map[int]int{}, 0
	for at := 0; at < len(lines); {
		cells, n := firstRecord(lines[at:], comma)
		at += n
		if isBlank(cells) {
			continue
		}
		counts[len(cells)]++
		records++
	}

	usual := 0
	for n, times := range counts {
		if n > 1 && (times > counts[usual] || times == counts[usual] && n > usual) {
			usual = n
		}
	}
	if usual == 0 {
		return 0
	}

	score := 0.0
	for n, times := range counts {
		switch {
		case n == usual:
			score += float64(times)
		case n > 1 && n < usual:
			score += float64(times) / 2
		}
	}

	return score/float64(records) + float64(min(usual, maxColumns))/1e5
}

// firstRecord returns the cells of the first record of lines and how many lines it has. A record whose quotes break the
// rules is its first line.
func firstRecord(lines []line, comma byte) (cells []string, n int) {
	p := cellParser{comma: comma}
	for i, l := range lines {
		p.feed(l.text)
		if p.state == malformed {
			break
		}
		if p.state != quoted {
			return p.finish(), i + 1
		}
		p.feed(l.end)
	}

	if cells, ok := parseLenient(lines[0].text, comma); ok {
		return cells, 1
	}

	return strings.Split(lines[0].text, string(rune(comma))), 1
}

func isBlank(cells []string) bool {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}
