package sheet

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Limits of a workbook, which is held in memory. Parts above workbookPart are decompressed to temporary files.
const (
	maxWorkbook         = 64 << 20
	maxUnpackedWorkbook = 256 << 20
	workbookPart        = 16 << 20
)

// workbookSource returns the first sheet of a workbook as CSV, with the cells as the spreadsheet shows them. Dates
// whose form depends on the computer are YYYY-MM-DD.
func workbookSource(from io.Reader) (src source, err error) {
	data, err := io.ReadAll(io.LimitReader(from, maxWorkbook+1))
	if err != nil {
		return source{}, err
	}
	if len(data) > maxWorkbook {
		return source{}, WrongFile("too_large", "A workbook has at most 64 MiB. Save it as CSV.")
	}
	defer func() {
		if r := recover(); r != nil { // the library panics on some damaged workbooks
			src, err = source{}, damagedWorkbook()
		}
	}()

	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: maxUnpackedWorkbook, UnzipXMLSizeLimit: workbookPart,
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return source{}, badWorkbook(data, err)
	}

	for _, name := range book.GetSheetList() {
		rows, err := book.Rows(name)
		if err != nil {
			continue // a chart or a dialog
		}
		w := &workbook{book: book, rows: rows}
		w.csv = csv.NewWriter(&w.out)
		in := bufio.NewReaderSize(w, peek)
		return source{in: in, encoding: UTF8, delimiter: ",", close: w.close}, nil
	}

	_ = book.Close() // removes temporary files

	return source{}, WrongFile("damaged_file", "The workbook has no worksheet.")
}

// badWorkbook returns the fault for an archive that is no readable workbook.
func badWorkbook(data []byte, err error) error {
	z, zipErr := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if zipErr != nil {
		return damagedWorkbook()
	}
	if strings.Contains(err.Error(), "unzip size exceeds") {
		return WrongFile("too_large", fmt.Sprintf("The workbook has more than %d MiB when it is decompressed.",
			maxUnpackedWorkbook>>20))
	}

	for _, f := range z.File {
		switch {
		case strings.HasPrefix(f.Name, "xl/"):
			return damagedWorkbook()
		case strings.HasPrefix(f.Name, "word/"):
			return otherKind("a Word document (.docx)")
		case strings.HasPrefix(f.Name, "ppt/"):
			return otherKind("a PowerPoint presentation (.pptx)")
		case f.Name == "content.xml":
			return otherKind("an OpenDocument file (such as .ods)")
		case strings.HasSuffix(f.Name, ".iwa"):
			return otherKind("a Numbers or Pages document")
		}
	}

	return otherKind("a ZIP archive")
}

func damagedWorkbook() error {
	return WrongFile("damaged_file", "The workbook is damaged, or protected by a password.")
}

// workbook reads the rows of a sheet as CSV.
type workbook struct {
	book *excelize.File
	rows *excelize.Rows
	out  bytes.Buffer
	csv  *csv.Writer
}

// Read writes the next rows to the buffer and reads from it.
func (w *workbook) Read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil { // as in workbookSource
			n, err = 0, damagedWorkbook()
		}
	}()

	for w.out.Len() == 0 {
		if !w.rows.Next() {
			if w.rows.Error() != nil {
				return 0, damagedWorkbook()
			}
			return 0, io.EOF
		}

		cells, err := w.rows.Columns()
		if err != nil {
			return 0, damagedWorkbook()
		}
		for i := range cells {
			cells[i] = Cell(cells[i]) // an apostrophe in a workbook is a character
		}
		_ = w.csv.Write(cells) // to a buffer
		w.csv.Flush()
	}

	return w.out.Read(p)
}

// close removes temporary files.
func (w *workbook) close() {
	_ = w.rows.Close()
	_ = w.book.Close()
}
