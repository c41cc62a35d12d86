package imports

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
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

var details = map[string]string{
	badUTF8:   "The row is not in UTF-8.",
	badNUL:    "The row has a NUL character.",
	badQuotes: "A quotation mark is where none may be.",
	badCount:  "The row has another number of cells than the header.",
}

// errLong ends a file that has a record, or an unterminated quoted cell, above the size limit.
var errLong = errors.New("a record is too long")

// records reads an uploaded CSV: delimited by comma, semicolon or tab, with quotes as in RFC 4180, CRLF or LF, with or
// without a byte order mark.
type records struct {
	csv    *csv.Reader
	source *bounded
	width  int // number of cells in the header
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

func newRecords(from io.Reader) (*records, error) {
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
	r := &records{source: &bounded{from: newLineEnds(in, comma)}}
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

// header reads the first record.
func (r *records) header() ([]string, error) {
	first, err := r.csv.Read()
	if err != nil {
		return nil, err
	}
	r.source.end = r.csv.InputOffset()
	r.width = len(first)
	return append([]string(nil), first...), nil
}

// next returns the next record, and its defect if it has one. The cells are valid until the next call. After the last
// record the error is io.EOF; any other error is from the connection, or errLong.
func (r *records) next() (cells []string, wrong string, err error) {
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

// A block is a sequence of records: the defect, the number of cells, and the cells, each as a length and its bytes.

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendRecord(b []byte, wrong string, cells []string) []byte {
	b = binary.AppendUvarint(appendText(b, wrong), uint64(len(cells)))
	for _, c := range cells {
		b = appendText(b, c)
	}
	return b
}

// record is a record of a block.
type record struct {
	wrong string
	cells []string
}

var errBlock = errors.New("the block is truncated")

// block decodes the records of a block.
func block(b []byte) (all []record, err error) {
	for text := string(b); text != ""; {
		var r record
		var n uint64
		if r.wrong, text, err = takeText(text); err != nil {
			return nil, err
		}
		if n, text, err = takeNumber(text); err != nil || n > uint64(len(text)) {
			return nil, fmt.Errorf("number of cells: %w", errBlock)
		}
		r.cells = make([]string, n)
		for i := range r.cells {
			if r.cells[i], text, err = takeText(text); err != nil {
				return nil, err
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func takeText(s string) (text, rest string, err error) {
	n, rest, err := takeNumber(s)
	if err != nil || n > uint64(len(rest)) {
		return "", "", errBlock
	}
	return rest[:n], rest[n:], nil
}

func takeNumber(s string) (n uint64, rest string, err error) {
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, s[i+1:], nil
		}
	}
	return 0, "", errBlock
}

func isParse(err error) bool {
	_, is := errors.AsType[*csv.ParseError](err)
	return is
}
