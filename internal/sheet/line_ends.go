package sheet

import "io"

// lineEnds passes a CSV to csv.Reader so that line ends inside quotes are preserved: csv.Reader removes the CR of every
// CRLF, so lineEnds adds a second CR to a CRLF inside quotes. It does not change input that csv.Reader refuses.
type lineEnds struct {
	from  io.Reader
	comma byte
	state cellState
	buf   []byte // read from from, not yet scanned
	out   []byte // scanned, not yet returned
	store []byte // backing memory of out
}

// cellState is the scanner's state within a record.
type cellState int

const (
	cellStart     cellState = iota // a quote here opens the cell
	unquoted                       // up to the next delimiter or line end
	quoted                         // up to the next quote
	quotedCR                       // quoted, after a CR
	quoteInQuoted                  // after a quote that closes the cell or is the first of a pair
	broken                         // after a misplaced quote, up to the line end
)

func newLineEnds(from io.Reader, comma rune) *lineEnds {
	return &lineEnds{from: from, comma: byte(comma)}
}

// Read returns scanned bytes.
func (l *lineEnds) Read(p []byte) (int, error) {
	if len(l.out) == 0 {
		if l.buf == nil {
			l.buf = make([]byte, 32<<10)
		}
		n, err := l.from.Read(l.buf)
		l.out = l.scan(l.store[:0], l.buf[:n])
		l.store = l.out
		if n == 0 || err != nil && len(l.out) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// scan appends b to out, with a second CR before each CRLF inside quotes.
func (l *lineEnds) scan(out, b []byte) []byte {
	for _, c := range b {
		if l.state == quotedCR && c == '\n' {
			out = append(out, '\r')
		}
		out = append(out, c)
		l.state = l.next(c)
	}
	return out
}

// next returns the state after c, as csv.Reader has it: after a misplaced quote, csv.Reader drops the rest of the line.
func (l *lineEnds) next(c byte) cellState {
	inside := l.state == quoted || l.state == quotedCR
	switch {
	case inside && c == '"':
		return quoteInQuoted
	case inside && c == '\r':
		return quotedCR
	case inside:
		return quoted
	case c == '\n':
		return cellStart
	case l.state == broken:
		return broken
	case c == l.comma:
		return cellStart
	case c == '"' && l.state == unquoted:
		return broken
	case c == '"':
		return quoted
	case l.state == quoteInQuoted && c != '\r':
		return broken
	default:
		return unquoted
	}
}
