package wordindex_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
)

func TestAWordHasABitInEverySliceThatASearchForItsBeginningReads(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"a", "lovelace", "straße", "日本語日本語日本語日本語", "\u0301a\u0301", "42", strings.Repeat("x", 40), "bad\xffbyte",
	} {
		has := wordindex.SlicesOf(word)
		for n := range word {
			if n == 0 {
				continue
			}
			reads := wordindex.Probes(word[:n])
			if len(reads) == 0 || len(reads) > 6 {
				t.Errorf("%q: %d slices", word[:n], len(reads))
			}
			for _, slice := range reads {
				if slice < 0 || slice >= 512 || !slices.Contains(has, slice) {
					t.Errorf("%q begins with %q, but has no bit in slice %d", word, word[:n], slice)
				}
			}
		}
	}
}

// Signatures are stored: with other slices every index has to be built anew.
func TestTheSlicesOfAWordNeverChange(t *testing.T) {
	t.Parallel()
	want := map[string][]int16{
		"lovelace": {372, 345, 492, 341, 61, 326, 373, 338, 372, 23},
		"straße":   {364, 416, 505, 90, 401, 302, 424, 302, 273},
	}
	for word := range want {
		if diff := cmp.Diff(want[word], wordindex.SlicesOf(word)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
	}
}
