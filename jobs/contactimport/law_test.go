package contactimport_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/sheet"
)

// lawFiles is the number of generated files; .ci/full passes a larger one.
var lawFiles = flag.Int("import.files", 100, "how many generated files the laws of imports are checked with")

// lawColumn is a column of a generated file. cell returns a cell, and the ways to read it that keep its meaning.
type lawColumn struct {
	header string
	cell   func(r *rand.Rand) string
}

// pick returns a function that returns one of cells.
func pick(cells ...string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return cells[r.IntN(len(cells))] }
}

// wildText returns a text that has signs of other formats.
func wildText(r *rand.Rand) string {
	parts := []string{
		"=", "-2+3", "+49 30", "@", "\t", "\n", "\r\n", "＝", "'", `"`, ",", ";", "|", " ", "true", "7", "a", "0012",
		"ä", "中", "\u00a0", "\u200b", "NULL", "1e5", "n/a",
	}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// lawColumns are what a generated file has beside its addresses and names.
var lawColumns = []lawColumn{
	{"Phone", pick("+49 30 123456", "030/123456", "(555) 010-1234", "tel. 12", "", "12-34", "+1 555 0100 ext. 3")},
	{"Mobile Phone", pick("+49 151 1234567", "0151 1234567", "", "none")},
	{"Job Title", pick("CTO", "", "=CEO", strings.Repeat("x", 300), "Chef de projet, R&D", "'quoted'")},
	{"Country", pick("DE", "de", "Germany", "Deutschland", "DEU", "Atlantis", "", "France", "USA")},
	{"Lifecycle Stage", pick("lead", "Lead", "Marketing Qualified Lead", "unknown stage", "", "CUSTOMER")},
	{"Tags", pick("vip", "vip;news", "vip, news", `"a b";c`, "x|y", "", strings.Repeat("t", 70), ";")},
	{"Create Date", pick("2024-02-03", "2024-02-03T04:05:06Z", "03/04/2024", "31/12/2023", "soon", "", "2099-01-01")},
	{"Time Zone", pick("Europe/Berlin", "Mars/Olympus", "", "UTC")},
	{"Lead Source", pick("Web", "", "line\nbreak", "Fair")},
	{"Number", pick("1", "2.50", "0012", "1e5", "", "9007199254740993", "-3", "1,234.50")},
	{"Whole", pick("1", "25", "-3", "", "1000000", "0.5")},
	{"Flag", pick("true", "false", "", "yes", "1")},
	{"Since", pick("2024-01-31", "2024-13-31", "", "31.01.2024")},
	{"Note", wildText},
	{"  Odd   header\u00a0", wildText},
	{"", pick("x", "", "y")},
	{strings.Repeat("Long header ", 20), pick("x", "")},
	{"Note", pick("second", "")},
	{"lead_score", pick("12.5", "")},
	{"code", pick("A", "B", "")},
	{"owner", pick("nobody@example.test", "", "12")},
	{"attributes.size", pick("7", "8", "")},
	{"/", pick("slash", "")},
	{"consent_basis", pick("consent", "", "Two words")},
	{"segment", pick("friends", "friends;family", "")},
}

// lawRow is a row of a generated file.
type lawRow struct {
	cells []string
	text  string
}

// lawFile is a generated file and its rows.
type lawFile struct {
	*rand.Rand
	comma  string
	header []string
	rows   []lawRow
	text   string
}

func newLawFile(seed uint64) *lawFile {
	f := &lawFile{Rand: rand.New(rand.NewPCG(seed, 41))}
	f.comma = string(",;\t|"[f.IntN(4)])
	names := [][]string{{"First Name", "Last Name"}, {"first_name", "surname"}, {"Full Name"}}[f.IntN(3)]
	f.header = append([]string{[]string{"Email", "E-mail Address", "email"}[f.IntN(3)]}, names...)
	columns := []lawColumn{}
	for _, c := range lawColumns {
		if f.IntN(3) == 0 {
			columns = append(columns, c)
			f.header = append(f.header, c.header)
		}
	}

	var b strings.Builder
	b.WriteString(f.line(f.header) + "\n")
	end := []string{"\n", "\r\n"}[f.IntN(2)]
	open := false // a quotation mark, which ends at the next line that fits
	for n := range 3 + f.IntN(15) {
		row := lawRow{cells: f.person(n, len(names))}
		for _, c := range columns {
			row.cells = append(row.cells, c.cell(f.Rand))
		}
		row.text = f.line(row.cells)
		if !open {
			open = f.spoil(&row)
		} else {
			open = false
		}
		f.rows = append(f.rows, row)
		b.WriteString(row.text + end)
	}
	f.text = b.String()

	return f
}

// person returns the address and the names of a row. An address that an earlier row has is rare, and a row without a
// name has an address of its own.
func (f *lawFile) person(n, names int) []string {
	email := fmt.Sprintf("person%d@example.test", n)
	first := []string{"Ada", "Zoë", "=Ann", "Jean-Luc", "'Bo"}[f.IntN(5)]
	last := []string{"Li", "O'Hara", "van Dyk"}[f.IntN(3)]
	switch f.IntN(12) {
	case 0:
		email = []string{"no address", "", "a@@example.test", "x@", "two@example.test, three@example.test"}[f.IntN(5)]
	case 1:
		email = fmt.Sprintf("PERSON%d@example.test", f.IntN(n+1))
	}
	if names == 1 {
		return []string{email, first + " " + last}
	}
	return []string{email, first, last}
}

func (f *lawFile) line(cells []string) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		if out[i] = c; strings.ContainsAny(c, f.comma+"\"\r\n") || f.IntN(10) == 0 {
			out[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
	}
	return strings.Join(out, f.comma)
}

// spoil makes a row one that no spreadsheet writes, and reports whether it opened a quotation mark.
func (f *lawFile) spoil(row *lawRow) bool {
	switch f.IntN(20) {
	case 0:
		row.cells = nil
		row.text = strings.Repeat(f.comma, f.IntN(3))
	case 1:
		row.text += f.comma + "too" + f.comma + "many"
	case 2:
		row.text = row.cells[0] + f.comma + `"open` + strings.Repeat(f.comma, len(row.cells)-2)
		return true
	case 3:
		row.text = strings.Replace(row.text, f.comma, f.comma+"\x00", 1)
	case 4: // rows without their last cells
		row.cells = row.cells[:min(3, len(row.cells))]
		row.text = f.line(row.cells)
	}
	return false
}

// TestTheLawsOfImportsHoldForGeneratedFiles imports generated files: dry, and then for good, and again, and what they
// refused, and what an export returns.
func TestTheLawsOfImportsHoldForGeneratedFiles(t *testing.T) {
	t.Parallel()
	d := open(t)
	for n := range *lawFiles {
		d.org = id.New()
		d.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, d.org)
		l := &law{desk: d, f: newLawFile(uint64(n)), choices: imports.Choices{Strict: n%4 == 3}}
		l.check()
		if t.Failed() {
			t.Fatalf("file %d, strict %v, header %q:\n%s", n, l.choices.Strict, l.f.header, l.f.text)
		}
	}
}

// law is the check of one file.
type law struct {
	*desk
	f       *lawFile
	choices imports.Choices
}

func (l *law) check() {
	dry := l.choices
	dry.DryRun = true
	planned := l.bring(l.f.text, dry)
	i := l.bring(l.f.text, l.choices)
	if counts(planned) != counts(i) || planned.RowsBlank != i.RowsBlank || planned.WarningsCount != i.WarningsCount {
		l.t.Errorf("the dry run: %s, %d warnings; the import: %s, %d warnings", counts(planned),
			planned.WarningsCount, counts(i), i.WarningsCount)
	}
	if diff := cmp.Diff(planned.LeftOut, i.LeftOut); diff != "" {
		l.t.Errorf("columns left out (-dry run +import):\n%s", diff)
	}
	l.checkSum(i)
	l.checkColumns(i)
	l.checkRefused(i)
	l.checkValues(i)
	l.checkCorrected(i)

	again := l.bring(l.f.text, l.choices)
	if again.RowsCreated+again.RowsUpdated != 0 || again.RowsFailed != i.RowsFailed {
		l.t.Errorf("the second import: %s, the first one: %s\n%s", counts(again), counts(i), l.changes())
	}
	file := l.file([]exports.Wanted{
		{Format: exports.CSV}, {Format: exports.CSV, BOM: true}, {Format: exports.XLSX},
	}[l.f.IntN(3)])
	back := l.bring(file, imports.Choices{})
	if back.RowsUnchanged != back.RowsTotal || back.WarningsCount != 0 {
		l.t.Errorf("the export: %s, %d warnings\n%s\n%s\n%s", counts(back), back.WarningsCount, file, l.failed(back),
			l.changes())
	}
}

// changes returns the events of changes.
func (l *law) changes() string {
	return l.one(`SELECT coalesce(string_agg(data::text, E'\n' ORDER BY seq), '') FROM event
		WHERE org_id = $1 AND type = 'contact.updated'`, l.org)
}

// rowsOf returns the records of a file by their rows.
func (l *law) rowsOf(file string) (header string, all map[int]sheet.Record) {
	l.t.Helper()
	in, err := sheet.NewReader(strings.NewReader(file), sheet.Options{})
	if err != nil {
		l.t.Fatalf("%v\n%s", err, file)
	}
	defer in.Close()
	all = map[int]sheet.Record{}
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in.HeaderText, all
		}
		if err != nil {
			l.t.Fatal(err)
		}
		all[rec.Row] = rec
	}
}

// checkSum checks that every row is in one of the counts.
func (l *law) checkSum(i imports.Import) {
	sum := i.RowsCreated + i.RowsUpdated + i.RowsUnchanged + i.RowsFailed + i.RowsBlank + i.RowsRepeated
	if i.RowsTotal != sum || i.RowsTotal != len(l.f.rows) {
		l.t.Errorf("rows_total is %d, the sum %d; the file has %d rows", i.RowsTotal, sum, len(l.f.rows))
	}
}

// checkColumns checks that every column with a value is stored or named as left out.
func (l *law) checkColumns(i imports.Import) {
	if len(i.Mapping) != len(l.f.header) {
		l.t.Errorf("%d columns of %d are in the mapping: %v", len(i.Mapping), len(l.f.header), i.Mapping)
	}
	for name, field := range i.Mapping {
		reasons := 0
		for _, o := range i.LeftOut {
			if o.Column == name && o.Reason != "" {
				reasons++
			}
		}
		if field != nil && reasons != 0 || reasons > 1 {
			l.t.Errorf("%q is mapped to %v and has %d reasons to be left out", name, field, reasons)
		}
	}
}

// checkRefused checks that the file of refused rows has them as they came, that they fail again, and that they go in
// once they are corrected.
func (l *law) checkRefused(i imports.Import) {
	if i.RowsFailed == 0 {
		return
	}
	file := l.failed(i)
	header, rows := l.rowsOf(file)
	if want := l.f.text[:strings.IndexAny(l.f.text, "\n")]; header != want {
		l.t.Errorf("the header of the refused rows is %q, want %q", header, want)
	}
	if len(rows) != i.RowsFailed {
		l.t.Errorf("%d refused rows of %d", len(rows), i.RowsFailed)
	}
	codes := l.codes(i)
	at := 1
	for _, row := range slices.Sorted(maps.Keys(codes)) {
		at++
		if got, want := rows[at].Text, l.f.rows[row-2].text; got != want {
			l.t.Errorf("the refused row %d is %q, want %q", row, got, want)
		}
	}

	again := l.bring(file, l.choices)
	if again.RowsFailed != i.RowsFailed || again.RowsTotal != i.RowsFailed {
		l.t.Errorf("the refused rows: %s; want %d failed\n%s", counts(again), i.RowsFailed, file)
	}
	reasons := func(m map[int]string) (all []string) {
		for _, row := range slices.Sorted(maps.Keys(m)) {
			all = append(all, m[row])
		}
		return all
	}
	if diff := cmp.Diff(reasons(codes), reasons(l.codes(again))); diff != "" {
		l.t.Errorf("the reasons (-first +second):\n%s\n%s", diff, file)
	}
	if n := l.one(`SELECT count(*) FROM contact_field WHERE org_id = $1 AND (key IN ('row', 'detail')
		OR key = 'code' AND NOT $2)`, l.org, slices.Contains(l.f.header, "code")); n != "0" {
		l.t.Errorf("%s custom fields are of the file of refused rows", n)
	}
}

// codes returns the codes of the refused rows.
func (l *law) codes(i imports.Import) map[int]string {
	rows, err := l.sql.Query(l.t.Context(), `SELECT row, code FROM contact_import_error
		WHERE org_id = $1 AND import_id = $2`, l.org, i.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	all := map[int]string{}
	for rows.Next() {
		var row int
		var code string
		if err := rows.Scan(&row, &code); err != nil {
			l.t.Fatal(err)
		}
		all[row] = code
	}
	return all
}

// checkCorrected gives every refused row an address and names, and imports the rows dry: none of the corrected ones
// fails for its address or a name, and no custom field is called like the columns in front.
func (l *law) checkCorrected(i imports.Import) {
	if i.RowsFailed == 0 {
		return
	}
	_, rows := l.rowsOf(l.failed(i))
	lines := []string{l.f.line(append(slices.Clone(sheet.RefusedColumns), l.f.header...))}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		cells := []string{strconv.Itoa(row), "code", "detail", fmt.Sprintf("corrected%d@example.test", row)}
		if r := rows[row]; len(r.Cells) == len(l.f.header) {
			cells = append(cells, r.Cells[1:]...)
		}
		names := []string{"Some Name"}
		if !slices.Contains(l.f.header, "Full Name") {
			names = []string{"Some", "Name"}
		}
		cells = slices.Concat(cells[:4], names, cells[min(len(cells), 4+len(names)):])
		lines = append(lines, l.f.line(cells))
	}
	done := l.bring(strings.Join(lines, "\n")+"\n", imports.Choices{})
	if done.RowsCreated != done.RowsTotal || done.RowsTotal != i.RowsFailed {
		l.t.Errorf("the corrected rows: %s\n%s", counts(done), l.failed(done))
	}
	for name := range done.Mapping {
		if name == "row" || name == "detail" {
			l.t.Errorf("the column %s is imported", name)
		}
	}
}

// checkValues checks that each cell of a row that went in is stored, unless a warning names it or a later row replaced
// it.
func (l *law) checkValues(i imports.Import) {
	warned := l.warned(i)
	refused := l.codes(i)
	names, err := sheet.Names(l.f.header)
	if err != nil {
		l.t.Fatal(err)
	}
	seen := map[string]bool{}
	for n := len(l.f.rows) - 1; n >= 0; n-- {
		row := l.f.rows[n]
		if _, is := refused[n+2]; is || strings.TrimSpace(strings.Join(row.cells, "")) == "" {
			continue
		}
		email := strings.ToLower(row.cells[0])
		var c map[string]any
		if err := json.Unmarshal([]byte(l.one(`SELECT to_jsonb(c) FROM contact c WHERE org_id = $1
			AND email_folded = $2`, l.org, email)), &c); err != nil {
			l.t.Fatal(err)
		}
		for at, cell := range row.cells {
			field := i.Mapping[names[at]]
			if field == nil || strings.TrimSpace(cell) == "" || seen[email+*field] {
				continue
			}
			seen[email+*field] = true
			if !warned[fmt.Sprint(n+2, names[at])] && !isStored(c, *field, sheet.Text(cell)) {
				l.t.Errorf("row %d, %q: %q is not in %v", n+2, names[at], cell, c)
			}
		}
	}
}

// warned returns the rows and columns of the warnings.
func (l *law) warned(i imports.Import) map[string]bool {
	rows, err := l.sql.Query(l.t.Context(), `SELECT row, coalesce(col, '') FROM contact_import_warning
		WHERE org_id = $1 AND import_id = $2`, l.org, i.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]bool{}
	for rows.Next() {
		var row int
		var column string
		if err := rows.Scan(&row, &column); err != nil {
			l.t.Fatal(err)
		}
		all[fmt.Sprint(row, column)] = true
	}
	return all
}

// isStored reports whether a contact has the value of a cell.
func isStored(c map[string]any, field, cell string) bool {
	switch field {
	case "email", "stage", "country", "created_at":
		return c[field] != nil
	case "full_name":
		return fmt.Sprint(c["first_name"], " ", c["last_name"]) == cell
	case "tag":
		tags, _ := c["tags"].([]any)
		return len(tags) > 0 == (strings.Trim(cell, " ;,|") != "")
	case "segment":
		return true
	case "consent_basis":
		consent, _ := c["consent"].(map[string]any)
		return consent["basis"] == cell
	}
	if key, is := strings.CutPrefix(field, "attributes."); is {
		attributes, _ := c["attributes"].(map[string]any)
		switch v := attributes[key].(type) {
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64) == cell
		case bool:
			return strconv.FormatBool(v) == cell
		default:
			return v == cell
		}
	}
	return c[field] == cell
}
