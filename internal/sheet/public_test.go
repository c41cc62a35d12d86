package sheet_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/sheet"
)

// public is a directory of CSV files that others have published; .ci/full fetches some.
var public = flag.String("sheet.public", "", "directory of published CSV files that are read")

// TestNoCellOfAPublishedFileIsChanged reads published files as the strict parser of the standard library does, where
// that one can read them: as UTF-8 with the delimiter that was detected.
func TestNoCellOfAPublishedFileIsChanged(t *testing.T) {
	t.Parallel()
	if *public == "" {
		t.Skip("-sheet.public is not given")
	}
	read := 0
	err := filepath.WalkDir(*public, func(path string, e fs.DirEntry, err error) error {
		if end := strings.ToLower(filepath.Ext(path)); err != nil || e.IsDir() || end != ".csv" && end != ".tsv" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if compareWithStrict(t, path, data) {
			read++
		}
		return nil
	})
	if err != nil || read < 15 {
		t.Errorf("%d files were compared: %v", read, err)
	}
	t.Logf("%d files were compared", read)
}

// compareWithStrict compares the records of a file with those of the strict parser, and returns false if that one
// cannot read the file.
func compareWithStrict(t *testing.T, path string, data []byte) bool {
	t.Helper()
	in, err := sheet.NewReader(bytes.NewReader(data), sheet.Options{})
	if err != nil {
		t.Logf("%s is refused: %v", path, err)
		return false
	}
	defer in.Close()

	strict := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	strict.Comma = []rune(in.Delimiter)[0]
	strict.FieldsPerRecord = -1
	want, err := strict.ReadAll()
	if err != nil || in.HeaderRow > len(want) {
		return false
	}

	got := [][]string{in.Header}
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return true
		}
		if rec.Text != "" { // the strict parser skips empty lines
			got = append(got, rec.Cells)
		}
	}
	// Only the line ends within cells differ: the strict parser makes "\n" of "\r\n".
	for _, row := range got {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
		}
	}
	skipped := slices.IndexFunc(want, func(row []string) bool { return slices.Equal(row, got[0]) })
	if skipped < 0 {
		t.Errorf("%s: the header is %q", path, got[0])
		return true
	}
	if skipped > 0 {
		t.Errorf("%s: %d rows above the header: %q", path, skipped, want[:skipped])
	}
	if diff := cmp.Diff(want[skipped:], got); diff != "" {
		t.Errorf("%s (-strict parser +reader):\n%.2000s", path, diff)
	}

	return true
}
