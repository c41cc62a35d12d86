package imports_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestTheColumnsOfUsualProductsAreUnderstood reads the files of testdata: headers as the products write them, with rows
// that are made up. Behind the name of each file, testdata/fields.txt has the columns of the built-in fields.
func TestTheColumnsOfUsualProductsAreUnderstood(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	want := expectedFields(t)
	files, err := filepath.Glob("testdata/*.csv")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %d expected: %v", len(files), len(want), err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		org := id.New()
		s, err := imports.Stage(t.Context(), db.App, org, f, sheet.Options{})
		_ = f.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var i imports.Import
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
			i, err = imports.Queue(context.WithoutCancel(t.Context()), tx, s, imports.Choices{})
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for column, field := range i.Mapping {
			if field == nil && !slices.ContainsFunc(i.LeftOut, func(o sheet.OmittedColumn) bool {
				return o.Column == column
			}) {
				t.Errorf("%s: %q has no field and is not named as left out", name, column)
			}
			if field != nil && !strings.HasPrefix(*field, "attributes.") {
				got = append(got, *field+"="+column)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// expectedFields reads testdata/fields.txt: a line with the name of each file, and indented lines of field=column.
func expectedFields(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open("testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, name := map[string][]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if pair, is := strings.CutPrefix(line, "\t"); is {
			all[name] = append(all[name], pair)
		} else if name = line; name != "" {
			all[name] = nil
		}
	}
	for _, fields := range all {
		slices.Sort(fields)
	}
	return all
}
