// Package sheet writes CSVs that a spreadsheet can open without computing anything of what is in them.
//
// A spreadsheet takes a cell that begins with =, +, -, @, a tab, a carriage return or the full-width form of one of these
// signs for a formula. Such a cell gets an apostrophe in front, unless it is a number or a phone number: a sign, and then
// digits, blanks, dots and parentheses alone. A cell that has apostrophes before such a sign gets one more, so that Text,
// which takes one away, returns what was written.
package sheet

import (
	"encoding/csv"
	"io"
	"strings"
)

// Writer writes the records of a CSV (RFC 4180), each cell by the rule of the package.
type Writer struct {
	csv  *csv.Writer
	line []string
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{csv: csv.NewWriter(out)} }

// Write writes one record. It is buffered until Flush.
func (w *Writer) Write(texts []string) error {
	w.line = w.line[:0]
	for _, text := range texts {
		w.line = append(w.line, Cell(text))
	}
	return w.csv.Write(w.line)
}

// Flush writes what is buffered and returns the first error of all writes.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// Cell returns the cell that text becomes. Text(Cell(s)) is s.
func Cell(text string) string {
	if guarded(text) {
		return "'" + text
	}
	return text
}

// Text returns the text that a cell was. Only the apostrophe that Cell puts in front is taken off.
func Text(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && guarded(text) {
		return text
	}
	return cell
}

// guarded reports whether text gets an apostrophe. Apostrophes in front of it make no difference.
func guarded(text string) bool {
	text = strings.TrimLeft(text, "'")
	return formula(text) && !number(text)
}

// formula reports whether a spreadsheet may take s for a formula.
func formula(s string) bool {
	for _, sign := range []string{"=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(s, sign) {
			return true
		}
	}
	return false
}

// number reports whether s is a number or a phone number.
func number(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789 ().") == ""
}
