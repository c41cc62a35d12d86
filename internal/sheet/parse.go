package sheet

import "strings"

// cellParser splits the text of one record into cells, line by line. A quote inside an unquoted cell is a character.
type cellParser struct {
	comma  byte
	cells  []string
	starts []int // where the cells begin in the text
	cell   []byte
	state  cellState
	at     int // bytes of the text seen
}

// cellState is the parser's state within a record.
type cellState int

const (
	cellStart     cellState = iota // a quote here opens the cell
	unquoted                       // up to the next delimiter
	quoted                         // up to the next quote
	quoteInQuoted                  // after a quote that closes the cell or is the first of a pair
	malformed                      // another character after the quote that closes a cell
)

// feed parses a further part of the text.
func (p *cellParser) feed(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case p.state == malformed:
			return
		case p.state == cellStart:
			p.starts = append(p.starts, p.at+i)
			switch c {
			case '"':
				p.state = quoted
			case p.comma:
				p.endCell()
			default:
				p.cell = append(p.cell, c)
				p.state = unquoted
			}
		case p.state == quoted && c == '"':
			p.state = quoteInQuoted
		case p.state == quoteInQuoted && c == '"':
			p.cell = append(p.cell, c)
			p.state = quoted
		case p.state != quoted && c == p.comma:
			p.endCell()
		case p.state == quoteInQuoted:
			p.state = malformed
		default:
			p.cell = append(p.cell, c)
		}
	}
	p.at += len(text)
}

func (p *cellParser) endCell() {
	p.cells = append(p.cells, string(p.cell))
	p.cell = p.cell[:0]
	p.state = cellStart
}

// finish ends the last cell. The parser must be neither in quotes nor malformed.
func (p *cellParser) finish() []string {
	if p.state == cellStart {
		p.starts = append(p.starts, p.at)
	}
	p.endCell()
	return p.cells
}

// parseLine returns the cells of a record of one line, and false if a quote opens a cell and none closes it.
func parseLine(text string, comma byte) (cells []string, ok bool) {
	if strings.IndexByte(text, '"') < 0 {
		return strings.Split(text, string(rune(comma))), true
	}

	p := cellParser{comma: comma}
	p.feed(text)
	if p.state == quoted || p.state == malformed {
		return nil, false
	}

	return p.finish(), true
}

// parseLenient returns the cells of a line whose quotes break the rules: with quotes inside a quoted cell that are not
// doubled, with characters behind the closing quote, or with blanks before the opening one. It returns false if a quote
// opens a cell and no other quote follows in it.
func parseLenient(text string, comma byte) (cells []string, ok bool) {
	for {
		cell, rest, more, ok := takeLenient(text, comma)
		if !ok {
			return nil, false
		}
		cells = append(cells, cell)
		if !more {
			return cells, true
		}
		text = rest
	}
}

// takeLenient returns the first cell of text, and what follows its delimiter.
func takeLenient(text string, comma byte) (cell, rest string, more, ok bool) {
	inner := strings.TrimLeft(text, " ")
	if comma != '\t' {
		inner = strings.TrimLeft(text, " \t")
	}
	if !strings.HasPrefix(inner, `"`) {
		cell, rest, more = strings.Cut(text, string(rune(comma)))
		return cell, rest, more, true
	}

	for i := 1; i < len(inner); i++ {
		if inner[i] != '"' {
			continue
		}
		if i+1 < len(inner) && inner[i+1] == '"' && !closes(inner[i+2:], comma) {
			i++
			continue
		}
		if !closes(inner[i+1:], comma) {
			continue
		}
		_, rest, more = strings.Cut(inner[i+1:], string(rune(comma)))
		return strings.ReplaceAll(inner[1:i], `""`, `"`), rest, more, true
	}

	cell, rest, more = strings.Cut(text, string(rune(comma)))

	return cell, rest, more, strings.Count(cell, `"`) > 1
}

// closes reports whether text, which follows a quote, begins with a delimiter or ends, blanks aside.
func closes(text string, comma byte) bool {
	text = strings.TrimLeft(text, " ")
	return text == "" || text[0] == comma
}

// cutCells returns the text behind the first n cells of a record, or all of it if it has not more than n.
func cutCells(text string, n int, comma byte) string {
	if n == 0 {
		return text
	}
	p := cellParser{comma: comma}
	p.feed(text)
	if p.state == cellStart {
		p.starts = append(p.starts, p.at)
	}
	if len(p.starts) <= n {
		return text
	}
	return text[p.starts[n]:]
}
