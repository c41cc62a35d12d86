package sheet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A block is a sequence of records: the row, the flags, the defect, the number of cells, the cells and, if the cells
// joined by the delimiter are not the text, the text. A text is stored as its length and its bytes.

// Record is one row of a file.
type Record struct {
	Row       int      // number of the row in the file; the first one is 1
	Defect    string   // "": none
	Blank     bool     // no cell has a value
	Converted bool     // the row was no UTF-8 and was read as Windows-1252
	Cells     []string // as many as the row has, which may be fewer or more than the header has
	Text      string   // the row as it was sent, in UTF-8 and without the line end
}

// Cell returns the cell of a column, or "" if the row ends before it.
func (r *Record) Cell(column int) string {
	if column < len(r.Cells) {
		return r.Cells[column]
	}
	return ""
}

// Flags of a record in a block.
const (
	flagBlank = 1 << iota
	flagConverted
	flagText
)

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendRecord appends a record of a file with this delimiter to a block.
func AppendRecord(b []byte, r *Record, delimiter string) []byte {
	flags := uint64(0)
	if r.Blank {
		flags |= flagBlank
	}
	if r.Converted {
		flags |= flagConverted
	}
	if r.Text != strings.Join(r.Cells, delimiter) {
		flags |= flagText
	}

	b = binary.AppendUvarint(b, uint64(r.Row))
	b = appendText(binary.AppendUvarint(b, flags), r.Defect)
	b = binary.AppendUvarint(b, uint64(len(r.Cells)))
	for _, c := range r.Cells {
		b = appendText(b, c)
	}
	if flags&flagText != 0 {
		b = appendText(b, r.Text)
	}

	return b
}

var errBlock = errors.New("the block is truncated")

// Records decodes the records of a block of a file with this delimiter.
func Records(b []byte, delimiter string) (all []Record, err error) {
	for text := string(b); text != ""; {
		var r Record
		if r, text, err = takeRecord(text, delimiter); err != nil {
			return nil, err
		}
		all = append(all, r)
	}

	return all, nil
}

func takeRecord(s, delimiter string) (r Record, rest string, err error) {
	row, s, err := takeNumber(s)
	if err != nil {
		return r, "", err
	}
	flags, s, err := takeNumber(s)
	if err != nil {
		return r, "", err
	}
	r.Row = int(row)
	r.Blank = flags&flagBlank != 0
	r.Converted = flags&flagConverted != 0
	if r.Defect, s, err = takeText(s); err != nil {
		return r, "", err
	}

	n, s, err := takeNumber(s)
	if err != nil || n > uint64(len(s)) {
		return r, "", fmt.Errorf("number of cells: %w", errBlock)
	}

	r.Cells = make([]string, n)
	for i := range r.Cells {
		if r.Cells[i], s, err = takeText(s); err != nil {
			return r, "", err
		}
	}

	if flags&flagText == 0 {
		r.Text = strings.Join(r.Cells, delimiter)
		return r, s, nil
	}

	r.Text, s, err = takeText(s)

	return r, s, err
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
