package sheet

import (
	"fmt"
	"strings"
)

// FormerRecords decodes a block that was written before blocks held the text of rows: the defect, the number of cells
// and the cells of each record. first is the row of the first record.
func FormerRecords(b []byte, first int) (all []Record, err error) {
	for text := string(b); text != ""; first++ {
		r := Record{Row: first}
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

		r.Text = Line(r.Cells, ",")
		all = append(all, r)
	}

	return all, nil
}

// Line returns cells as a line of a CSV without its end. A cell that has any usual delimiter is in quotes, so that the
// delimiter of the line can be detected.
func Line(cells []string, delimiter string) string {
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteString(delimiter)
		}
		if strings.ContainsAny(c, ",;|\t\"\r\n"+delimiter) || strings.TrimSpace(c) != c {
			c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		b.WriteString(c)
	}
	return b.String()
}
