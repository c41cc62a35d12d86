package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/local"
)

func TestTemplatesAreRemovedAfterTwoDaysAndSoonerIfThereAreMany(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		ages []time.Duration
		kept int
	}{
		"few":               {[]time.Duration{0, time.Hour, 47 * time.Hour}, 3},
		"an old one":        {[]time.Duration{0, 49 * time.Hour}, 1},
		"many in use":       {slices.Repeat([]time.Duration{time.Minute}, 20), 20},
		"many of yesterday": {slices.Repeat([]time.Duration{20 * time.Hour}, 20), 6},
		"new and old ones": {slices.Concat(slices.Repeat([]time.Duration{time.Minute}, 4),
			slices.Repeat([]time.Duration{2 * time.Hour}, 9)), 6},
		"seven, one is late": {append(slices.Repeat([]time.Duration{time.Minute}, 6), 59*time.Minute), 7},
	} {
		dir := t.TempDir()
		for n, age := range c.ages {
			one := filepath.Join(dir, fmt.Sprintf("template-15.1-%02d", n))
			if err := os.MkdirAll(filepath.Join(one, "base"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(one, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		local.SweepTemplates(dir, now)
		if left, err := os.ReadDir(dir); err != nil || len(left) != c.kept {
			t.Errorf("%s: %d are kept, want %d: %v", name, len(left), c.kept, err)
		}
	}
}
