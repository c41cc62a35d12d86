package sheet_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/funnelwork/funnelwork/internal/sheet"
)

// TestAWorkbookThatIsWrittenInPartsHasEveryCell writes a workbook in three parts, and reads it with the library and
// with a Reader.
func TestAWorkbookThatIsWrittenInPartsHasEveryCell(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"email", "note", "size"},
		{"a@example.test", "=1+1", "12.5"},
		{"b@example.test", " x\r\ny\tz ", "-3"},
		{"c@example.test", "'=1 <&> _x000D_ _x", "90071992547409"},
		{"d@example.test", "\x01\u00a0中🎉", ""},
		{"", "only", ""},
	}
	var file bytes.Buffer
	var state sheet.WorkbookState
	for n := range 3 {
		var part bytes.Buffer
		w := sheet.NewWorkbookWriter(&part, state)
		for i, row := range rows[2*n : 2*n+2] {
			w.Write(row, func(c int) bool { return c == 2 && n+i > 0 })
		}
		var err error
		if state, err = w.Finish(n == 2); err != nil {
			t.Fatal(err)
		}
		file.Write(part.Bytes())
	}
	if state.Bytes != int64(file.Len()) || state.Rows != len(rows) {
		t.Errorf("%+v for %d bytes and %d rows", state, file.Len(), len(rows))
	}

	z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File { // checks the sums
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		_ = in.Close()
	}
	book, err := excelize.OpenReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if kind, err := book.GetCellType("Export", "C2"); err != nil || kind == excelize.CellTypeInlineString {
		t.Errorf("the type of a number is %v: %v", kind, err)
	}
	if kind, err := book.GetCellType("Export", "B2"); err != nil || kind != excelize.CellTypeInlineString {
		t.Errorf("the type of a text is %v: %v", kind, err)
	}

	in, err := sheet.NewReader(&file, sheet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	got := [][]string{in.Header}
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		line := make([]string, 3)
		for i := range line {
			line[i] = sheet.Text(rec.Cell(i))
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("the rows (-want +got):\n%s", diff)
	}
	if names := strings.Join(book.GetSheetList(), ","); names != "Export" {
		t.Error(names)
	}
}
