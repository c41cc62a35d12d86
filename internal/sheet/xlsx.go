package sheet

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// A workbook is a ZIP archive, and the sheet is its last entry. Its parts are compressed one by one, so that a file can
// be written in steps: a step needs only the state in which the step before it left the file.

// MaxSheetRows is the maximum number of rows of a sheet, with the header.
const MaxSheetRows = 1 << 20

// maxSheetBytes is the maximum size of a sheet before it is compressed: sizes have 32 bits.
const maxSheetBytes = 1<<32 - 1<<20

// WorkbookState is the state of an unfinished workbook. The zero value is that of a workbook that has not begun.
type WorkbookState struct {
	CRC   uint32 // of the sheet
	Size  int64  // of the sheet before it is compressed
	Rows  int
	Bytes int64 // of the file
}

// WorkbookWriter writes the next part of a workbook with one sheet. Each cell is a text, or a number that is shown as
// it is. Texts are never formulas.
type WorkbookWriter struct {
	state WorkbookState
	out   *bytes.Buffer
	raw   bytes.Buffer // XML of the part
	begun int          // bytes that out had
}

// NewWorkbookWriter returns a writer that appends to out what follows the state.
func NewWorkbookWriter(out *bytes.Buffer, state WorkbookState) *WorkbookWriter {
	w := &WorkbookWriter{state: state, out: out, begun: out.Len()}
	if state.Bytes == 0 {
		prefix, _ := workbookPrefix()
		out.Write(prefix)
		w.raw.WriteString(sheetHead)
	}
	return w
}

// IsFull reports whether the sheet has no room for n rows more.
func (w *WorkbookWriter) IsFull(n int) bool {
	return w.state.Rows+n > MaxSheetRows || w.state.Size+int64(w.raw.Len()) > maxSheetBytes
}

// Write writes a row. A cell that is a number is shown as one if spreadsheets show all its digits.
func (w *WorkbookWriter) Write(cells []string, isNumber func(i int) bool) {
	w.state.Rows++
	row := strconv.Itoa(w.state.Rows)
	w.raw.WriteString(`<row r="` + row + `">`)
	for i, c := range cells {
		if c == "" {
			continue
		}
		w.raw.WriteString(`<c r="` + columnName(i) + row)
		if isNumber != nil && isNumber(i) && len(c) <= shownDigits {
			w.raw.WriteString(`"><v>` + c + `</v></c>`)
			continue
		}
		w.raw.WriteString(`" t="inlineStr"><is><t xml:space="preserve">`)
		writeXML(&w.raw, c)
		w.raw.WriteString(`</t></is></c>`)
	}
	w.raw.WriteString("</row>\n")
}

// shownDigits is how many characters of a number spreadsheets show.
const shownDigits = 11

// Finish ends the part, and the file if it is the last one. It returns the state of the file.
func (w *WorkbookWriter) Finish(isLast bool) (WorkbookState, error) {
	if isLast {
		w.raw.WriteString(sheetFoot)
	}
	w.state.CRC = crc32.Update(w.state.CRC, crc32.IEEETable, w.raw.Bytes())
	w.state.Size += int64(w.raw.Len())

	z, err := flate.NewWriter(w.out, flate.DefaultCompression)
	if err != nil {
		return w.state, fmt.Errorf("compress: %w", err)
	}
	_, err = z.Write(w.raw.Bytes())
	if err == nil && isLast {
		err = z.Close()
	} else if err == nil {
		err = z.Flush()
	}
	if err != nil {
		return w.state, fmt.Errorf("compress: %w", err)
	}

	w.state.Bytes += int64(w.out.Len() - w.begun)
	if isLast {
		end := len(w.out.Bytes())
		w.writeDirectory()
		w.state.Bytes += int64(w.out.Len() - end)
	}

	return w.state, nil
}

// writeDirectory writes what follows the last entry of the archive.
func (w *WorkbookWriter) writeDirectory() {
	prefix, entries := workbookPrefix()
	sheet := &entries[len(entries)-1]
	sheet.crc = w.state.CRC
	sheet.size = uint32(w.state.Size)                            // below maxSheetBytes
	sheet.packed = uint32(w.state.Bytes - int64(len(prefix)))    // less than size
	at := uint32(w.state.Bytes)                                  // likewise
	put := func(values ...any) { writeLittle(w.out, values...) } //nolint:wsl // one statement
	put(uint32(0x08074b50), sheet.crc, sheet.packed, sheet.size)
	at += 16

	size := w.out.Len()
	for i := range entries {
		e := &entries[i]
		put(uint32(0x02014b50), uint16(20), uint16(20), e.flags, e.method, uint16(0), zipDate, e.crc, e.packed, e.size,
			uint16(len(e.name)), uint16(0), uint16(0), uint16(0), uint16(0), uint32(0), e.offset)
		w.out.WriteString(e.name)
	}
	size = w.out.Len() - size
	n := uint16(len(entries))
	put(uint32(0x06054b50), uint16(0), uint16(0), n, n, uint32(size), at, uint16(0))
}

// zipEntry is an entry of a ZIP archive.
type zipEntry struct {
	name          string
	flags, method uint16
	crc           uint32
	packed, size  uint32
	offset        uint32
}

// zipDate is the date of all entries, so that the same rows make the same file.
const zipDate = uint16(1<<5 | 1) // 1980-01-01

// workbookPrefix returns the beginning of the archive, up to the contents of the sheet, and its entries.
func workbookPrefix() ([]byte, []zipEntry) {
	var b bytes.Buffer
	var entries []zipEntry
	for _, f := range workbookFiles {
		e := zipEntry{
			name: f.name, crc: crc32.ChecksumIEEE([]byte(f.text)), packed: uint32(len(f.text)),
			size: uint32(len(f.text)), offset: uint32(b.Len()),
		}
		if f.text == "" { // the sheet, whose size follows it
			e.flags = 1 << 3
			e.method = 8
		}
		writeLittle(&b, uint32(0x04034b50), uint16(20), e.flags, e.method, uint16(0), zipDate, e.crc, e.packed, e.size,
			uint16(len(e.name)), uint16(0))
		b.WriteString(e.name + f.text)
		entries = append(entries, e)
	}
	return b.Bytes(), entries
}

func writeLittle(out *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(out, binary.LittleEndian, v) // to a buffer
	}
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

const (
	spreadsheetML = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	relations     = "http://schemas.openxmlformats.org/package/2006/relationships"
	documents     = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	contentTypes  = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

const (
	sheetHead = xmlHead + `<worksheet xmlns="` + spreadsheetML + `"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
		"<sheetData>\n"
	sheetFoot = "</sheetData></worksheet>"
)

// workbookFiles are the entries of a workbook. The last one is the sheet.
var workbookFiles = []struct{ name, text string }{
	{"[Content_Types].xml", xmlHead +
		`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + contentTypes + `sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + contentTypes + `styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + contentTypes + `worksheet+xml"/></Types>`},
	{"_rels/.rels", xmlHead + `<Relationships xmlns="` + relations + `"><Relationship Id="rId1" Type="` + documents +
		`/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", xmlHead + `<workbook xmlns="` + spreadsheetML + `" xmlns:r="` + documents +
		`"><bookViews><workbookView/></bookViews><sheets><sheet name="Export" sheetId="1" r:id="rId1"/></sheets>` +
		`</workbook>`},
	{"xl/_rels/workbook.xml.rels", xmlHead + `<Relationships xmlns="` + relations + `"><Relationship Id="rId1" Type="` +
		documents + `/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="` + documents +
		`/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", xmlHead + `<styleSheet xmlns="` + spreadsheetML + `"><fonts count="1"><font/></fonts>` +
		`<fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/>` +
		`</cellStyleXfs><cellXfs count="1"><xf/></cellXfs></styleSheet>`},
	{"xl/worksheets/sheet1.xml", ""},
}

// columnName returns the letters of the column at index i: A for 0.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// writeXML writes a text. Characters that XML does not have, or that its readers change, are written as _xHHHH_, and so
// is the underscore before what looks like one.
func writeXML(out *bytes.Buffer, s string) {
	for i, r := range s {
		switch {
		case r == '&':
			out.WriteString("&amp;")
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r < ' ' && r != '\t' && r != '\n', r == 0xfffe, r == 0xffff:
			fmt.Fprintf(out, "_x%04X_", r)
		case r == '_' && isEscape(s[i:]):
			out.WriteString("_x005F_")
		default:
			out.WriteRune(r)
		}
	}
}

// isEscape reports whether s begins with _xHHHH_.
func isEscape(s string) bool {
	return len(s) > 6 && s[1] == 'x' && s[6] == '_' && strings.Trim(s[2:6], "0123456789abcdefABCDEF") == ""
}
