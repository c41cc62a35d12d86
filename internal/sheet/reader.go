package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Limits of a file.
const (
	maxRecord  = 1 << 20 // bytes of one record
	maxColumns = 500
	peek       = 64 << 10 // bytes used to detect the delimiter
)

// Defects of a record. A record with a defect is a failed row.
const (
	badUTF8   = "invalid_utf8"
	badNUL    = "invalid_characters"
	badQuotes = "malformed_row"
	badCount  = "wrong_column_count"
)

// DefectDetail returns the sentence about a defect, or "".
func DefectDetail(defect string) string {
	switch defect {
	case badUTF8:
		return "The row is not in UTF-8."
	case badNUL:
		return "The row has a NUL character."
	case badQuotes:
		return "A quotation mark is where none may be."
	case badCount:
		return "The row has another number of cells than the header."
	}
	return ""
}

// errLong ends a file that has a record, or an unterminated quoted cell, above the size limit.
var errLong = errors.New("a record is too long")

// Reader reads an uploaded CSV: delimited by comma, semicolon or tab, with quotes as in RFC 4180, CRLF or LF, with or
// without a byte order mark. It holds one record in memory.
type Reader struct {
	csv    *csv.Reader
	source *bounded
}

// bounded ends the file if a record grows too long, which bounds the memory of csv.Reader, since it holds one record.
type bounded struct {
	from io.Reader
	read int64 // bytes returned
	end  int64 // end of the last complete record
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read-b.end > maxRecord {
		return 0, errLong
	}
	n, err := b.from.Read(p)
	b.read += int64(n)
	return n, err
}

// NewReader returns a Reader of the CSV in from. An error is from from.
func NewReader(from io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(from, peek)
	start, err := in.Peek(peek)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("\ufeff")) {
		start = start[3:]
		_, _ = in.Discard(3)
	}
	comma := delimiter(start)
	r := &Reader{source: &bounded{from: newLineEnds(in, comma)}}
	r.csv = csv.NewReader(r.source)
	r.csv.Comma, r.csv.ReuseRecord = comma, true
	return r, nil
}

// delimiter returns the candidate that occurs most often in the first line, outside quotes.
func delimiter(start []byte) rune {
	quoted, counts := false, map[byte]int{}
	for _, b := range start {
		if b == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		if b == '\n' && len(counts) > 0 {
			break
		}
		counts[b]++
	}
	best := byte(',')
	for _, candidate := range []byte{';', '\t'} {
		if counts[candidate] > counts[best] {
			best = candidate
		}
	}
	return rune(best)
}

// Header reads the first record. It must be called once, before Next.
func (r *Reader) Header() ([]string, error) {
	first, err := r.csv.Read()
	if err != nil {
		return nil, err
	}
	r.source.end = r.csv.InputOffset()
	return append([]string(nil), first...), nil
}

// Next returns the next record, and its defect if it has one. The cells are valid until the next call. After the last
// record the error is io.EOF; Unreadable explains any other.
func (r *Reader) Next() (cells []string, wrong string, err error) {
	cells, err = r.csv.Read()
	r.source.end = r.csv.InputOffset()
	parse, is := errors.AsType[*csv.ParseError](err)
	switch {
	case is && errors.Is(parse.Err, csv.ErrFieldCount):
		return cells, badCount, nil
	case is:
		return cells, badQuotes, nil
	case err != nil:
		return nil, "", err
	}
	for _, c := range cells {
		switch {
		case !utf8.ValidString(c):
			return cells, badUTF8, nil
		case strings.IndexByte(c, 0) >= 0:
			return cells, badNUL, nil
		}
	}
	return cells, "", nil
}

// Unreadable converts an error of Header or Next to the error for the client. An error of the connection is returned
// unchanged.
func Unreadable(err error) error {
	_, isParse := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, errLong):
		return WrongFile("record_too_long", "A row is longer than 1 MiB; perhaps a quotation mark is never closed.")
	case errors.Is(err, io.EOF):
		return WrongFile("required", "The file is empty: it needs a header.")
	case isParse:
		return WrongFile(badQuotes, DefectDetail(badQuotes))
	}
	return err
}

// WrongFile returns the fault for a file that cannot be taken.
func WrongFile(code, detail string) *fault.Fault { return fault.Invalid("file", code, detail) }

// Names returns the column names of a header, trimmed, or a fault.
func Names(header []string) ([]string, error) {
	if len(header) > maxColumns {
		return nil, WrongFile("too_many_columns", fmt.Sprintf("A file has at most %d columns.", maxColumns))
	}
	names, seen := make([]string, len(header)), map[string]bool{}
	for i, name := range header {
		if !strings.Contains(name, "\x00") && strings.ToValidUTF8(name, "") == name {
			names[i] = strings.TrimSpace(Text(name))
		} else {
			return nil, WrongFile(badUTF8, "The header is not text in UTF-8.")
		}
		if strings.ContainsRune(names[i], '\r') { // a file with CR line ends, or a name of two lines
			return nil,
				WrongFile("line_ends",
					"The lines of the file have to end with LF or CRLF, and no column's name has a line end.")
		}
		if name := names[i]; name != "" && seen[name] {
			return nil, WrongFile("duplicate_column", "The header names a column twice: "+name)
		}
		seen[names[i]] = true
	}
	return names, nil
}
