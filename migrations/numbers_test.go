package migrations_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/migrations"
)

// skipped is the unused numbers. They must stay unused: goose refuses to apply an earlier file to a database that has a
// later one ("detected 1 missing (out-of-order) migration"), so a new file with such a number would stop every install
// at its start.
var skipped = []int{
	10, 16, 17, 22, 23, 24, 25, 26, 27, 28, 34, 35, 36, 38, 39, 41, 42, 45, 48, 49, 54, 56, 57, 58,
	59, 62, 63, 64, 66, 67, 68, 69, 149, 152, 153, 154, 157, 158, 159, 160, 161, 162, 163, 164,
	171, 172,
}

func TestMigrationsAreNumberedOnFromTheHighestWithoutAGap(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, e := range entries {
		if len(e.Name()) > 5 && e.Name()[4] == '_' {
			n, err := strconv.Atoi(e.Name()[:4])
			if err != nil {
				t.Errorf("%s: a file's name begins with a number of four digits", e.Name())
				continue
			}
			if slices.Contains(numbers, n) {
				t.Errorf("%s: the number is taken", e.Name())
			}
			numbers = append(numbers, n)
		}
	}
	newest, err := migrations.Newest()
	if err != nil || newest != int64(slices.Max(numbers)) {
		t.Errorf("newest %d, %v; want %d", newest, err, slices.Max(numbers))
	}
	var missing []int
	for n := 1; n < slices.Max(numbers); n++ {
		if !slices.Contains(numbers, n) {
			missing = append(missing, n)
		}
	}
	if diff := cmp.Diff(skipped, missing); diff != "" {
		t.Errorf(
			"the numbers that no file has are other ones (-want +got): a new file has the number after the "+
				"highest:\n%s", diff)
	}
}

// firstAsRole is the first migration that changes rows as a role: the ones before it have landed.
const firstAsRole = 125

// changesRows matches a statement at the beginning of a line that changes rows that are there.
var changesRows = regexp.MustCompile(`(?m)^(UPDATE|DELETE FROM|INSERT INTO [^;]*\sSELECT)\s`)

// The owner of the tables, who migrates, sees no row of an org's table: a statement without a role that does would
// change nothing, and say nothing, unless the owner is a superuser as in tests.
func TestMigrationsChangeRowsAsARoleThatSeesThem(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if n, err := strconv.Atoi(file[:4]); err != nil || n < firstAsRole {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, at := range changesRows.FindAllStringIndex(text, -1) {
			before := text[:at[0]]
			if strings.Count(before, "SET LOCAL ROLE funnelwork_system") <= strings.Count(before, "RESET ROLE") {
				t.Errorf("%s: %.60q changes rows as the owner of the tables", file, text[at[0]:])
			}
		}
	}
}
