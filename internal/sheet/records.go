package sheet

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// Next returns the next row. After the last one the error is io.EOF; Unreadable explains any other.
func (r *Reader) Next() (Record, error) {
	if !r.have(1) {
		return Record{}, r.ended
	}

	r.row++
	cells, n, defect := r.record()
	rec := Record{Row: r.row, Defect: defect, Cells: cells, Text: joinLines(r.window[:n])}
	for _, l := range r.window[:n] {
		rec.Converted = rec.Converted || l.converted
	}
	r.drop(n)
	r.strip(&rec)
	r.judge(&rec)

	return rec, nil
}

// have reports whether the window has n lines. It reads them if need be.
func (r *Reader) have(n int) bool {
	for len(r.window) < n {
		if r.ended != nil {
			return false
		}
		l, err := r.lines.next()
		if err != nil {
			r.ended = err
			return false
		}
		r.window = append(r.window, l)
	}
	return true
}

// drop removes the first n lines of the window.
func (r *Reader) drop(n int) {
	if n == len(r.window) {
		r.window = r.window[:0]
		return
	}
	r.window = r.window[n:]
}

// record returns the cells of the next record, how many lines it has, and its defect.
func (r *Reader) record() (cells []string, n int, defect string) {
	first := r.window[0].text
	quote := strings.IndexByte(first, '"')
	if quote < 0 {
		return strings.Split(first, r.Delimiter), 1, ""
	}

	r.noteAddresses(strings.Split(first[:quote], r.Delimiter))
	cells, n, ok := r.parse(0)
	if ok {
		return cells, n, ""
	}
	if r.ended != nil && !errors.Is(r.ended, io.EOF) {
		return nil, 1, badUnclosed // the reader returns the error of the source next
	}

	defect = badUnclosed
	if n == 0 {
		defect = badQuotes
	}
	n = r.recover()
	cells = strings.Split(first, r.Delimiter)

	return cells, n, defect
}

// parse returns the cells of the record that begins at a line of the window, and how many lines it has. It returns
// false if no reading of the quotes gives a record that fits the header, and then n is 0 if the quotes of its first
// line are closed.
func (r *Reader) parse(at int) (cells []string, n int, ok bool) {
	first := r.window[at].text
	cells, n, ok = r.parseStrict(at)
	switch {
	case ok && n == 1:
		lenient, ok := parseLenient(first, r.comma)
		if ok && len(cells) > r.width && len(lenient) == r.width {
			return lenient, 1, true // blanks stand before opening quotes
		}
		return cells, 1, true
	case ok && r.isRecord(cells, at, n):
		return cells, n, true
	case n > 1:
		return nil, 1, false
	}

	if cells, ok = parseLenient(first, r.comma); ok && r.fits(cells) {
		return cells, 1, true
	}

	return nil, 0, false
}

// parseStrict returns the cells of the record that begins at a line of the window by the rules of CSV, and how many
// lines it has. It returns false if a quote is not closed, or if other characters follow the one that closes a cell. An
// unclosed quote has more than one line.
func (r *Reader) parseStrict(at int) (cells []string, n int, ok bool) {
	p := cellParser{comma: r.comma}
	p.feed(r.window[at].text)
	size := len(r.window[at].text)
	for n = 1; p.state == quoted; n++ {
		if size > maxRecord || !r.have(at+n+1) {
			return nil, n + 1, false
		}
		p.feed(r.window[at+n-1].end)
		p.feed(r.window[at+n].text)
		size += len(r.window[at+n].text) + len(r.window[at+n].end)
	}
	if p.state == malformed {
		return nil, n, false
	}

	return p.finish(), n, true
}

// isRecord reports whether cells, which span n lines, are one record, and not a quotation mark that swallows rows up to
// the next quotation mark.
func (r *Reader) isRecord(cells []string, at, n int) bool {
	if r.Fixed {
		return true // this program wrote the quotes
	}
	exact := len(cells) == r.width || len(cells) > r.width && isBlank(cells[r.width:])
	rows, all := 0, true
	for i := at + 1; i < at+n; {
		inner, lines, ok := r.parseStrict(i)
		if !ok || !r.fits(inner) {
			inner, lines = r.lineCells(i), 1
		}
		i += lines
		switch {
		case inner == nil:
			all = false
		case r.skip > 0, !exact && (r.hasAddress(inner) || !slices.Contains(r.addresses, true)):
			return false
		case len(inner) < r.width: // such as the end of a cell and the cells behind it
			all = false
		case r.hasAddress(inner):
			rows++
		}
	}

	return !all || rows == 0
}

// lineCells returns the cells of a line of the window that is a row by itself in some reading of its quotes, or nil.
func (r *Reader) lineCells(at int) []string {
	text := r.window[at].text
	if cells, ok := parseLine(text, r.comma); ok && r.fits(cells) {
		return cells
	}
	if cells, ok := parseLenient(text, r.comma); ok && r.fits(cells) {
		return cells
	}
	if cells := strings.Split(text, r.Delimiter); r.fits(cells) {
		return cells
	}
	return nil
}

// fits reports whether cells are a row below the header: as many, or fewer with an address where other rows have one. A
// refused row begins with a number and a code, and may have any number of cells.
func (r *Reader) fits(cells []string) bool {
	switch {
	case r.skip > 0:
		return len(cells) > r.skip && isRowNumber(cells[0]) && isCode(cells[1])
	case len(cells) == r.width:
		return !isBlank(cells)
	case len(cells) > r.width:
		return isBlank(cells[r.width:]) && !isBlank(cells)
	}
	return len(cells) > 1 && r.hasAddress(cells)
}

// isRowNumber reports whether a cell is the number of a row, perhaps in quotes.
func isRowNumber(cell string) bool {
	cell = unquote(cell)
	return cell != "" && cell[0] != '0' && strings.Trim(cell, "0123456789") == ""
}

// isCode reports whether a cell is the code of a refused row, perhaps in quotes.
func isCode(cell string) bool {
	cell = unquote(cell)
	return len(cell) > 2 && strings.Trim(cell, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// unquote returns a cell without the quotes around it.
func unquote(cell string) string {
	if len(cell) > 1 && cell[0] == '"' && cell[len(cell)-1] == '"' {
		return cell[1 : len(cell)-1]
	}
	return cell
}

// hasAddress reports whether a cell of one line has an at sign in a column in which other rows have one.
func (r *Reader) hasAddress(cells []string) bool {
	for i, c := range cells {
		if i < len(r.addresses) && r.addresses[i] && strings.IndexByte(c, '@') > 0 &&
			!strings.ContainsAny(strings.Trim(c, " "), " \r\n\""+r.Delimiter) {
			return true
		}
	}
	return false
}

// recover returns how many lines belong to a record with an unclosed quote: those before the next line that begins a
// record which fits the header, or that would but for its own quotes.
func (r *Reader) recover() int {
	size := len(r.window[0].text)
	for n := 1; ; n++ {
		if size > maxRecord || !r.have(n+1) {
			return n
		}
		if cells, _, ok := r.parse(n); ok && r.fits(cells) {
			return n
		}
		if cells := r.lineCells(n); cells != nil && (r.skip > 0 || r.hasAddress(cells)) {
			return n // a row that is broken itself
		}
		size += len(r.window[n].text)
	}
}

// strip removes the columns of a file of refused rows.
func (r *Reader) strip(rec *Record) {
	if r.skip == 0 {
		return
	}
	rec.Text = cutCells(rec.Text, r.skip, r.comma)
	rec.Cells = rec.Cells[min(r.skip, len(rec.Cells)):]
}

// judge sets the defect of a record, and notes the columns of addresses.
func (r *Reader) judge(rec *Record) {
	width := r.width - r.skip
	switch {
	case rec.Defect != "":
	case strings.IndexByte(rec.Text, 0) >= 0:
		rec.Defect = badNUL
	case hasUndefined(rec.Text):
		rec.Defect = badUTF8
	case isBlank(rec.Cells):
		rec.Blank = true
	case len(rec.Cells) > width && !isBlank(rec.Cells[width:]):
		rec.Defect = badCount
	}
	if rec.Defect != "" || rec.Blank {
		return
	}

	for i, c := range rec.Cells {
		if i+r.skip < len(r.addresses) && !r.addresses[i+r.skip] && strings.IndexByte(c, '@') > 0 {
			r.addresses[i+r.skip] = true
		}
	}
}

// noteAddresses notes the columns in which the first cells of a row have an at sign.
func (r *Reader) noteAddresses(cells []string) {
	for i, c := range cells {
		if i < len(r.addresses) && strings.IndexByte(c, '@') > 0 {
			r.addresses[i] = true
		}
	}
}
