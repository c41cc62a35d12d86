package sheet

import (
	"errors"
	"io"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Limits of a file.
const (
	maxRecord  = 1 << 20 // bytes of one line, and of one record
	maxColumns = 500
	peek       = 64 << 10 // bytes that are buffered
	judged     = 200      // lines by which the delimiter and the header are detected
	judgedSize = 256 << 10
)

// Defects of a record. A record with a defect is a failed row.
const (
	badUTF8     = "invalid_utf8"
	badNUL      = "invalid_characters"
	badQuotes   = "malformed_row"
	badCount    = "wrong_column_count"
	badUnclosed = "unclosed_quote"
)

// DefectDetail returns the sentence about a defect, or "".
func DefectDetail(defect string) string {
	switch defect {
	case badUTF8:
		return "The row has bytes that are no text in UTF-8 or Windows-1252."
	case badNUL:
		return "The row has a NUL character."
	case badQuotes:
		return "A quotation mark is where none may be."
	case badCount:
		return "The row has more cells with a value than the header has columns."
	case badUnclosed:
		return "A quotation mark opens a cell and none closes it. Reading went on at the next line that is a row."
	}

	return ""
}

// Options tell how a file is read. The zero value detects everything.
type Options struct {
	Encoding  string // "": detected
	Delimiter string // "": detected
	// Known reports whether a cell is the usual name of a column. It tells a header from the notes above it.
	Known func(string) bool
}

// Check returns a validation fault if an option has no such value.
func (o Options) Check() error {
	if _, err := encodingOf(o.Encoding); err != nil {
		return err
	}
	if o.Delimiter != "" {
		_, err := delimiterOf(o.Delimiter)
		return err
	}
	return nil
}

// Given returns the encoding and the delimiter of the options, or "" for what is detected.
func (o Options) Given() (encoding, delimiter string, err error) {
	if err := o.Check(); err != nil {
		return "", "", err
	}
	encoding, _ = encodingOf(o.Encoding) // checked
	if o.Delimiter != "" {
		c, _ := delimiterOf(o.Delimiter) // checked
		delimiter = string(rune(c))
	}
	return encoding, delimiter, nil
}

// Reader reads the rows of an uploaded file. Close must be called. It holds at most one record, and the lines in which
// it looks for the end of a quoted cell.
type Reader struct {
	Encoding  string
	Delimiter string
	HeaderRow int      // number of the header's row
	Header    []string // cells of the header
	// HeaderText is the header as it was sent. Like the rows, it lacks the columns of a file of refused rows.
	HeaderText      string
	HeaderConverted bool // the header was no UTF-8 and was read as Windows-1252
	Refused         bool // the file is one of refused rows, whose first columns are skipped

	LeftOut  []OmittedColumn // what the rows lack of the file
	Preamble []byte          // the lines above the header, as they were sent
	Fixed    bool            // the file is no CSV: it has neither an encoding nor a delimiter of its own

	close     func()
	lines     *lineReader
	comma     byte
	window    []line // lines that are read and belong to no record yet
	ended     error  // from the source, or io.EOF
	row       int    // number of the last row
	width     int    // cells of the header, with those that are skipped
	skip      int    // columns of a file of refused rows
	addresses []bool // columns in which a record had an at sign
}

// NewReader returns a Reader of the file in from, after its header. A file of another kind, without a header or with a
// line that is too long is a validation fault. An error of from is returned unchanged.
func NewReader(from io.Reader, o Options) (*Reader, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}

	src, err := sourceOf(from, o)
	if err != nil {
		return nil, err
	}

	r := &Reader{
		Encoding: src.encoding, LeftOut: src.leftOut, close: src.close,
		lines: &lineReader{in: src.in, windows: src.encoding == Windows1252},
	}
	if src.delimiter != "" {
		r.Fixed = true
		o.Delimiter = src.delimiter
	}
	if err := r.begin(o); err != nil {
		r.Close()
		return nil, Unreadable(err)
	}

	return r, nil
}

// Close releases temporary files. It must be called once.
func (r *Reader) Close() {
	if r.close != nil {
		r.close()
	}
}

// begin detects the delimiter and reads the header.
func (r *Reader) begin(o Options) error {
	if err := r.fillJudged(); err != nil {
		return err
	}
	if len(r.window) == 0 {
		return io.EOF
	}

	comma, declared := declaredDelimiter(r.window[0].text)
	if declared {
		r.row++
		r.keep(r.window[:1])
		r.window = r.window[1:]
	}
	switch {
	case o.Delimiter != "":
		comma, _ = delimiterOf(o.Delimiter) // checked
	case !declared:
		comma = detectDelimiter(r.window, o.Known)
	}

	r.comma = comma
	r.Delimiter = string(rune(comma))

	return r.readHeader(o)
}

// fillJudged reads the first lines.
func (r *Reader) fillJudged() error {
	for size := 0; len(r.window) < judged && size < judgedSize; {
		l, err := r.lines.next()
		if err != nil {
			r.ended = err
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r.window = append(r.window, l)
		size += len(l.text)
	}
	return nil
}

func (r *Reader) readHeader(o Options) error {
	all := candidates(r.window, r.comma, o.Known)
	at := headerOf(all)
	if at < 0 {
		return io.EOF
	}

	lines := 0
	for _, c := range all[:at] {
		lines += c.lines
	}

	r.keep(r.window[:lines])
	head := r.window[lines : lines+all[at].lines]
	r.row += at + 1
	r.HeaderRow = r.row
	r.Header = all[at].cells
	r.HeaderText = joinLines(head)
	r.HeaderConverted = head[0].converted
	r.window = r.window[lines+all[at].lines:]
	if strings.Contains(r.HeaderText, "\x00") {
		return WrongFile(badNUL, "The header has a NUL character; perhaps the file is no text.")
	}
	if _, ok := parseLenient(head[0].text, r.comma); len(head) == 1 && !ok {
		return WrongFile(badQuotes, DefectDetail(badQuotes))
	}

	r.width = len(r.Header)
	r.addresses = make([]bool, r.width)
	if isRefused(r.Header) {
		r.Refused = true
		r.skip = len(RefusedColumns)
		r.Header = r.Header[r.skip:]
		r.HeaderText = cutCells(r.HeaderText, r.skip, r.comma)
	}

	return nil
}

// keep appends lines to the preamble.
func (r *Reader) keep(lines []line) {
	for _, l := range lines {
		r.Preamble = append(append(r.Preamble, Original(l.text, l.converted)...), '\n')
	}
}

// joinLines returns the text of lines, with their line ends but the last one.
func joinLines(lines []line) string {
	if len(lines) == 1 {
		return lines[0].text
	}

	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l.text)
		if i < len(lines)-1 {
			b.WriteString(l.end)
		}
	}

	return b.String()
}

// Unreadable converts an error of NewReader or Next to the error for the client. An error of the connection is returned
// unchanged.
func Unreadable(err error) error {
	switch {
	case errors.Is(err, errLong):
		return WrongFile("record_too_long", "A line is longer than 1 MiB; perhaps a quotation mark is never closed.")
	case errors.Is(err, io.EOF):
		return WrongFile("required", "The file is empty: it needs a header.")
	}
	return err
}

// WrongFile returns the fault for a file that cannot be taken.
func WrongFile(code, detail string) *fault.Fault { return fault.Invalid("file", code, detail) }
