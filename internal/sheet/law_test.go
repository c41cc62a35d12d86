package sheet_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"github.com/funnelwork/funnelwork/internal/sheet"
)

// files is the number of generated files; .ci/full passes a larger one.
var files = flag.Int("sheet.files", 1500, "how many generated files the laws are checked with")

// table is a generated table and the way in which its file is written.
type table struct {
	*rand.Rand
	comma  string
	ends   []string
	quoted int // of ten cells that need no quotes
	rows   [][]string
	lines  []string // the rows as they are written
}

func newTable(r *rand.Rand) *table {
	t := &table{Rand: r, comma: string(",;\t|"[r.IntN(4)]), quoted: []int{0, 0, 3, 10}[r.IntN(4)]}
	t.ends = [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n", "\r"}}[r.IntN(4)]
	width := 2 + r.IntN(6)
	head := []string{"email", "name"}
	for len(head) < width {
		head = append(head, fmt.Sprintf("column %d", len(head)))
	}
	t.add(head)
	for n := range 2 + r.IntN(30) {
		row := []string{fmt.Sprintf("person%d@example.test", n)}
		for len(row) < width {
			row = append(row, t.text())
		}
		t.add(row)
	}

	return t
}

// text returns a cell with signs that delimit something in one file or another.
func (t *table) text() string {
	parts := []string{
		"a", "word", "ä", "€", "1,5", " ", "\"", ",", ";", "|", "\t", "\n", "\r\n", "\r", "'", "=1", "0012", "x", "y",
		"Zoë", "5\" wide", "中", "\u00a0",
	}
	var b strings.Builder
	for range t.IntN(5) {
		b.WriteString(parts[t.IntN(len(parts))])
	}
	return b.String()
}

// add writes a row.
func (t *table) add(row []string) {
	t.rows = append(t.rows, row)
	cells := make([]string, len(row))
	for i, c := range row {
		if cells[i] = c; strings.ContainsAny(c, t.comma+"\"\r\n") || t.IntN(10) < t.quoted {
			cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
	}
	t.lines = append(t.lines, strings.Join(cells, t.comma))
}

// file returns the text of the lines.
func (t *table) file() string {
	var b strings.Builder
	for _, l := range t.lines {
		b.WriteString(l + t.ends[t.IntN(len(t.ends))])
	}
	return b.String()
}

// encoded returns the file in a random encoding.
func (t *table) encoded(tt *testing.T) string {
	tt.Helper()
	text := t.file()
	switch t.IntN(6) {
	case 0:
		return "\ufeff" + text
	case 1:
		return "\ufeff\ufeff" + text
	case 2, 3:
		order := []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian}[t.IntN(2)]
		s, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
		if err != nil {
			tt.Fatal(err)
		}
		return s
	}
	return text
}

func records(t *testing.T, file string) (all []sheet.Record) {
	t.Helper()
	r, err := sheet.NewReader(strings.NewReader(file), sheet.Options{Known: known})
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		all = append(all, rec)
	}
}

// TestEveryCellOfAFileIsReadAsItWasWritten writes generated tables in every way that spreadsheets do.
func TestEveryCellOfAFileIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for n := range *files {
		w := newTable(rand.New(rand.NewPCG(uint64(n), 39)))
		file := w.encoded(t)
		var got [][]string
		for _, rec := range records(t, file) {
			got = append(got, rec.Cells)
			if rec.Defect != "" || rec.Text != w.lines[min(len(got), len(w.lines)-1)] {
				t.Fatalf("file %d, row %d, %q, has the defect %q: %q", n, rec.Row, rec.Text, rec.Defect, file)
			}
		}
		if diff := cmp.Diff(w.rows[1:], got); diff != "" {
			t.Fatalf("file %d, %q (-want +got):\n%s", n, file, diff)
		}
	}
}

// TestAnUnclosedQuoteCostsItsOwnRowAlone opens a quote in one to three rows of generated tables. All the other rows are
// read as they were written, and every line of the file is in one record.
func TestAnUnclosedQuoteCostsItsOwnRowAlone(t *testing.T) {
	t.Parallel()
	for n := range *files {
		w := newTable(rand.New(rand.NewPCG(uint64(n), 40)))
		broken := map[int]bool{}
		for range 1 + w.IntN(3) {
			at := 1 + w.IntN(len(w.rows)-1)
			broken[at] = true
			row := w.rows[at]
			w.lines[at] = row[0] + w.comma + `"word` + strings.Repeat(w.comma+"word", len(row)-2)
		}
		file := w.file()
		var text strings.Builder
		for i, rec := range records(t, file) {
			text.WriteString(rec.Text)
			at := i + 1
			if at >= len(w.lines) {
				t.Fatalf("file %d, %q: too many rows, such as %q", n, file, rec.Text)
			}
			switch {
			case rec.Text != w.lines[at]:
				t.Fatalf("file %d, %q: row %d is %q, want %q", n, file, rec.Row, rec.Text, w.lines[at])
			case broken[at] != (rec.Defect == "unclosed_quote"):
				t.Fatalf("file %d, row %d, %q, has the defect %q: %q", n, rec.Row, rec.Text, rec.Defect, file)
			case !broken[at]:
				if diff := cmp.Diff(w.rows[at], rec.Cells); diff != "" {
					t.Fatalf("file %d, %q (-want +got):\n%s", n, file, diff)
				}
			}
		}
		if want := strings.Join(w.lines[1:], ""); text.String() != want {
			t.Fatalf("file %d, %q: the rows are %q, want %q", n, file, text.String(), want)
		}
	}
}
