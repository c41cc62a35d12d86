package imports_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression/imports"
)

// lawFiles is the number of generated files; .ci/full passes a larger one.
var lawFiles = flag.Int("import.files", 60, "how many generated files the laws of imports are checked with")

// lawFile returns the columns and lines of a generated file, and its delimiter.
func lawFile(r *rand.Rand) (names, lines []string, comma string) {
	comma = string(",;\t|"[r.IntN(4)])
	names = []string{"Email"}
	for _, name := range []string{"domain", "address", "purpose", "reason", "note", "Bounce class", "code"} {
		if r.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	for n := range 2 + r.IntN(12) {
		email := fmt.Sprintf("p%d@example.com", n)
		cells := []string{[]string{email, email, email, "nobody", "", "P0@EXAMPLE.com"}[r.IntN(6)]}
		for _, name := range names[1:] {
			choices := map[string][]string{
				"domain":  {"", "", "example.com", "@other.example", "no domain"},
				"address": {"", "", email, "x@other.example"},
				"purpose": {"", "all", "Marketing", "unknown"}, "reason": {"", "manual", "hard_bounce", "why"},
				"note": {"", "=1", strings.Repeat("x", 600), "a\nb", `5" wide`},
			}[name]
			if choices == nil {
				choices = []string{"", "x"}
			}
			cells = append(cells, choices[r.IntN(len(choices))])
		}
		lines = append(lines, sheet.Line(cells, comma))
	}
	switch r.IntN(3) {
	case 0:
		lines = append(lines, strings.Repeat(comma, len(names)-1))
	case 1:
		lines = append(lines, "last@example.com"+strings.Repeat(comma, len(names)-1)+comma+"too"+comma+"many")
	}
	return names, lines, comma
}

// run imports a file to its end.
func (d *desk) run(file string, strict bool) (i imports.Import) {
	d.Helper()
	s, err := imports.Stage(d.Context(), d.App, d.org, "user/ada", strings.NewReader(file), sheet.Options{})
	if err != nil {
		d.Fatalf("%v\n%s", err, file)
	}
	d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		i, err = imports.Queue(ctx, tx, s, imports.Choices{Purpose: "all", Reason: "manual", Strict: strict})
		return err
	})
	for more := true; more; {
		d.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
			more, err = imports.Step(ctx, tx, d.service, i.ID)
			return err
		})
	}
	return d.get(i.ID)
}

// refused returns the file of the refused rows, and its records.
func (d *desk) refused(i imports.Import) (file string, all []sheet.Record) {
	d.Helper()
	next := imports.Failed(&i, d.App, d.org)
	for {
		b, err := next(d.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			d.Fatal(err)
		}
		file += string(b)
	}
	in, err := sheet.NewReader(strings.NewReader(file), sheet.Options{})
	if err != nil {
		d.Fatal(err)
	}
	defer in.Close()
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return file, all
		}
		if err != nil {
			d.Fatal(err)
		}
		all = append(all, rec)
	}
}

// codesOf returns the codes in a file of refused rows.
func codesOf(file string) (codes []string) {
	comma := file[3:4]
	for line := range strings.Lines(file) {
		if cells := strings.SplitN(line, comma, 3); len(cells) == 3 {
			if _, err := strconv.Atoi(cells[0]); err == nil {
				codes = append(codes, cells[1])
			}
		}
	}
	return codes
}

// TestTheLawsOfImportsHoldForGeneratedFiles checks that each row is in one count, that each column with a value is used
// or named as left out, that refused rows come back as they came and fail again, and that a second import adds nothing.
func TestTheLawsOfImportsHoldForGeneratedFiles(t *testing.T) {
	t.Parallel()
	d := open(t)
	for n := range *lawFiles {
		d.org = id.New()
		r := rand.New(rand.NewPCG(uint64(n), 42))
		names, lines, comma := lawFile(r)
		text := strings.Join(names, comma) + "\n" + strings.Join(lines, "\n") + "\n"
		strict := n%3 == 2
		i := d.run(text, strict)
		if sum := i.RowsAdded + i.RowsUnchanged + i.RowsFailed + i.RowsBlank; sum != i.RowsTotal || sum != len(lines) {
			t.Errorf("rows_total is %d, the sum %d; the file has %d rows", i.RowsTotal, sum, len(lines))
		}
		for _, name := range []string{"Bounce class", "code"} {
			isFilled := names[len(names)-1] == name && slices.ContainsFunc(lines, func(l string) bool {
				return strings.HasSuffix(l, comma+"x")
			})
			isNamed := func(o sheet.OmittedColumn) bool { return o.Column == name }
			if isFilled && !slices.ContainsFunc(i.LeftOut, isNamed) {
				t.Errorf("the column %s is not named as left out", name)
			}
		}
		file, refused := d.refused(i)
		if len(refused) != i.RowsFailed {
			t.Errorf("%d refused rows of %d:\n%s", len(refused), i.RowsFailed, file)
		}
		for _, rec := range refused {
			if !slices.Contains(lines, rec.Text) {
				t.Errorf("%q is no row of the file", rec.Text)
			}
		}
		if i.RowsFailed > 0 {
			again := d.run(file, strict)
			second, _ := d.refused(again)
			if diff := cmp.Diff(codesOf(file), codesOf(second)); diff != "" || again.RowsFailed != again.RowsTotal {
				t.Errorf("the refused rows again (-first +second):\n%s", diff)
			}
		}
		if again := d.run(text, strict); again.RowsAdded != 0 || again.RowsFailed != i.RowsFailed {
			t.Errorf("the second import added %d rows", again.RowsAdded)
		}
		if t.Failed() {
			t.Fatalf("file %d, strict %v:\n%s", n, strict, text)
		}
	}
}
