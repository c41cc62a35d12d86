// Package sheet reads uploaded CSV files, and writes CSV files that a spreadsheet can open without evaluating their
// contents.
//
// # Cells that look like formulas
//
// A spreadsheet interprets a cell as a formula if it begins with =, +, -, @, a tab, a carriage return or the full-width
// form of one of these signs. Such a cell gets a leading apostrophe, unless it is a number or a phone number: only
// digits, blanks, dots, parentheses, slashes and hyphens, perhaps behind a sign. A cell with apostrophes before such a
// sign gets one more, so that Text, which removes one, returns the original text.
package sheet

import (
	"encoding/csv"
	"io"
	"strings"
)

// Writer writes the records of a CSV (RFC 4180) and guards each cell as the package comment describes.
type Writer struct {
	csv  *csv.Writer
	line []string
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{csv: csv.NewWriter(out)} }

// Write writes one record. The record is buffered until Flush.
func (w *Writer) Write(texts []string) error {
	w.line = w.line[:0]
	for _, text := range texts {
		w.line = append(w.line, Cell(text))
	}
	return w.csv.Write(w.line)
}

// Flush writes the buffered records and returns the first error of any write.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// Cell returns the cell for text. Text(Cell(s)) equals s.
func Cell(text string) string {
	if isGuarded(text) {
		return "'" + text
	}
	return text
}

// Text returns the text of a cell. It removes only the apostrophe that Cell adds.
func Text(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && wasGuarded(strings.TrimLeft(text, "'")) {
		return text
	}
	return cell
}

// isGuarded reports whether text gets an apostrophe.
func isGuarded(text string) bool {
	bare := strings.TrimLeft(text, "'")
	if len(bare) < len(text) {
		return wasGuarded(bare)
	}
	return isFormula(bare) && !isNumber(bare)
}

// wasGuarded reports whether some version has put an apostrophe before text: former ones also did before phone numbers
// with slashes and hyphens.
func wasGuarded(text string) bool {
	return isFormula(text) && (!isNumber(text) || strings.ContainsAny(text[1:], "/-") || len(text) == 1)
}

// isFormula reports whether a spreadsheet may interpret s as a formula.
func isFormula(s string) bool {
	for _, sign := range []string{"=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(s, sign) {
			return true
		}
	}
	return false
}

// isNumber reports whether s is a number or a phone number.
func isNumber(s string) bool {
	if len(s) > 1 && s[0] == '+' {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789 ()./-") == ""
}
