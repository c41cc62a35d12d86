package sheet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A block is a sequence of records: the defect, the number of cells, and the cells, each as a length and its bytes.

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendRecord appends a record to a block.
func AppendRecord(b []byte, defect string, cells []string) []byte {
	b = binary.AppendUvarint(appendText(b, defect), uint64(len(cells)))
	for _, c := range cells {
		b = appendText(b, c)
	}
	return b
}

// Record is a record of a block.
type Record struct {
	Defect string // "": none
	Cells  []string
}

var errBlock = errors.New("the block is truncated")

// Records decodes the records of a block.
func Records(b []byte) (all []Record, err error) {
	for text := string(b); text != ""; {
		var r Record
		var n uint64
		if r.Defect, text, err = takeText(text); err != nil {
			return nil, err
		}
		if n, text, err = takeNumber(text); err != nil || n > uint64(len(text)) {
			return nil, fmt.Errorf("number of cells: %w", errBlock)
		}
		r.Cells = make([]string, n)
		for i := range r.Cells {
			if r.Cells[i], text, err = takeText(text); err != nil {
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
