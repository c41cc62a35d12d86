package sheet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RefusedColumns are the columns that a file of refused rows has in front of the columns of the source. If they are the
// first three headers of a file, in this order, they are ignored.
var RefusedColumns = []string{"row", "code", "detail"}

// headerRows is the number of rows, from the first one, among which the header is searched.
const headerRows = 30

// candidate is a row that may be the header.
type candidate struct {
	cells []string
	lines int // lines of the file that it has
	known int // cells that are known column names
	full  int // cells that are not blank
}

// candidates parses the first rows of the file.
func candidates(lines []line, comma byte, known func(string) bool) (all []candidate) {
	for at := 0; at < len(lines) && len(all) < headerRows; {
		cells, n := firstRecord(lines[at:], comma)
		at += n
		c := candidate{cells: cells, lines: n}
		for _, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				continue
			}
			c.full++
			if known != nil && known(cell) {
				c.known++
			}
		}
		all = append(all, c)
	}

	return all
}

// headerOf returns the index of the header among the first rows, or -1 if all are blank. It is the first row that is
// not blank, unless that row is a note: a later row with more cells names columns that are known, or, where no row
// does, all rows from it on have the same number of cells, and at least twice as many as every row above.
func headerOf(all []candidate) int {
	first := slices.IndexFunc(all, func(c candidate) bool { return c.full > 0 })
	if first < 0 {
		return -1
	}

	widest := 0 // of the rows above
	for i := first; i < len(all); i++ {
		c := all[i]
		if c.known > 0 && (i == first || c.full > widest) {
			return i
		}
		widest = max(widest, c.full)
	}

	widest = all[first].full
	for i := first + 1; i < len(all); i++ {
		if all[i].full >= 2*widest && all[i].full > 2 && sameWidth(all[i:]) {
			return i
		}
		widest = max(widest, all[i].full)
	}

	return first
}

// sameWidth reports whether all rows that are not blank have as many cells as the first one.
func sameWidth(all []candidate) bool {
	for _, c := range all {
		if c.full > 0 && len(c.cells) != len(all[0].cells) {
			return false
		}
	}
	return len(all) > 1
}

// isRefused reports whether a header begins with RefusedColumns.
func isRefused(header []string) bool {
	if len(header) <= len(RefusedColumns) {
		return false
	}
	for i, name := range RefusedColumns {
		if strings.TrimSpace(header[i]) != name {
			return false
		}
	}
	return true
}

// Names returns the names of the columns of a header, or a fault. A name has no invisible characters, no blanks at its
// ends and, but for that of a custom field in an export, no runs of blanks. A column without a name is called Column
// and its number, and a repeated name gets a number in parentheses.
func Names(header []string) ([]string, error) {
	if len(header) > maxColumns {
		return nil, WrongFile("too_many_columns", fmt.Sprintf("A file has at most %d columns.", maxColumns))
	}

	names, taken := make([]string, len(header)), map[string]bool{}
	for i, name := range header {
		names[i] = cleanName(Text(name))
	}
	for i, name := range names {
		if name == "" || taken[name] {
			names[i] = freeName(name, i, names, taken)
		}
		taken[names[i]] = true
	}

	return names, nil
}

// freeName returns a name for the column at index i that no other column has.
func freeName(name string, i int, names []string, taken map[string]bool) string {
	free := func(s string) bool { return !taken[s] && !slices.Contains(names, s) }
	if name == "" {
		name = "Column " + strconv.Itoa(i+1)
		if free(name) {
			return name
		}
	}

	for n := 2; ; n++ {
		if s := name + " (" + strconv.Itoa(n) + ")"; free(s) {
			return s
		}
	}
}

// attribute begins the name of a column in an export that has the values of a custom field. Its key may have runs of
// blanks.
const attribute = "attributes."

// cleanName returns a column's name without invisible characters and with single blanks.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, name)

	if strings.HasPrefix(name, attribute) {
		return strings.TrimSpace(name)
	}

	return strings.Join(strings.Fields(name), " ")
}
