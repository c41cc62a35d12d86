package imports

import "io"

// lineEnds reads a CSV so that line ends inside quotes come through csv.Reader as they were sent: csv.Reader takes the CR
// from every CRLF, so a CRLF inside quotes gets a second one. What csv.Reader refuses, lineEnds leaves as it is.
type lineEnds struct {
	from  io.Reader
	comma byte
	state cellState
	buf   []byte // read from from and not yet scanned
	out   []byte // scanned and not yet handed on
	store []byte // the memory of out
}

// cellState is where in a record the next byte is.
type cellState int

const (
	cellStart     cellState = iota // a quote opens the cell
	unquoted                       // up to the next delimiter or line end
	quoted                         // up to the next quote
	quotedCR                       // quoted, behind a CR
	quoteInQuoted                  // behind a quote that ends the cell or is the first of two
	broken                         // behind a quote that is wrong, up to the line end
)

func newLineEnds(from io.Reader, comma rune) *lineEnds {
	return &lineEnds{from: from, comma: byte(comma)}
}

// Read hands on what was scanned.
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

// next returns the state behind c, as csv.Reader goes on: behind a quote that is wrong it drops the rest of the line.
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
