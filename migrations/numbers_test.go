package migrations_test

import (
	"os"
	"slices"
	"strconv"
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
