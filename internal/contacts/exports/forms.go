package exports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// errFull means that a workbook has no room for the next rows.
var errFull = errors.New("the workbook is full")

// byteOrderMark begins a CSV whose encoding a spreadsheet is to know.
const byteOrderMark = "\ufeff"

// writePart writes the next part of the file.
func (e *Export) writePart(out *bytes.Buffer, rows []contacts.Row, isFirst, isLast bool) error {
	switch e.Format {
	case CSV:
		return e.writeCSV(out, rows, isFirst)
	case XLSX:
		return e.writeWorkbook(out, rows, isFirst, isLast)
	default:
		return e.writeLines(out, rows)
	}
}

func (e *Export) writeCSV(out *bytes.Buffer, rows []contacts.Row, isFirst bool) error {
	w := sheet.NewWriter(out)
	if isFirst {
		if e.BOM {
			out.WriteString(byteOrderMark)
		}
		if err := w.Write(e.Fields); err != nil {
			return err
		}
	}

	line := make([]string, len(e.Fields))
	for i := range rows {
		if err := w.Write(e.formatLine(line, &rows[i])); err != nil {
			return err
		}
	}

	return w.Flush()
}

// formatLine formats the fields of a contact into line.
func (e *Export) formatLine(line []string, r *contacts.Row) []string {
	for n, f := range e.Fields {
		line[n] = formatCell(&r.Contact, f)
	}
	return line
}

func (e *Export) writeWorkbook(out *bytes.Buffer, rows []contacts.Row, isFirst, isLast bool) error {
	w := sheet.NewWorkbookWriter(out, e.workbook)
	if isFirst {
		w.Write(e.Fields, nil)
	}
	if w.IsFull(len(rows)) {
		return errFull
	}

	line := make([]string, len(e.Fields))
	for i := range rows {
		c := &rows[i].Contact
		w.Write(e.formatLine(line, &rows[i]), func(n int) bool {
			_, is := fieldValue(c, e.Fields[n]).(float64)
			return is
		})
	}

	state, err := w.Finish(isLast)
	e.workbook = state

	return err
}

// workbookState returns the state of a workbook to store, or nil.
func (e *Export) workbookState() []byte {
	if e.Format != XLSX {
		return nil
	}
	b, _ := json.Marshal(e.workbook) // numbers always encode
	return b
}

// writeLines writes rows as NDJSON.
func (e *Export) writeLines(out *bytes.Buffer, rows []contacts.Row) error {
	for i := range rows {
		out.WriteByte('{')
		for n, f := range e.Fields {
			if n > 0 {
				out.WriteByte(',')
			}
			name, err := json.Marshal(f)
			if err != nil {
				return err
			}
			v, err := json.Marshal(fieldValue(&rows[i].Contact, f))
			if err != nil {
				return fmt.Errorf("encode %s: %w", f, err)
			}
			out.Write(name)
			out.WriteByte(':')
			out.Write(v)
		}
		out.WriteString("}\n")
	}

	return nil
}
