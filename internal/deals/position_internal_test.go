package deals

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
)

func TestAPositionIsBetweenTwoOthersAndNeverEndsInZero(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	all := []string{byAge(id.New()), "g", "a", "a01", "azz", "b"}
	for range 5000 {
		slices.Sort(all)
		n := random.IntN(len(all) + 1)
		low, high := "", ""
		if n > 0 {
			low = all[n-1]
		}
		if n < len(all) {
			high = all[n]
		}
		p := positionBetween(low, high)
		if p <= low || high != "" && p >= high || !positionForm.MatchString(p) {
			t.Fatalf("between %q and %q is %q", low, high, p)
		}
		all = append(all, p)
	}
}

func TestPositionsGrowSlowlyInOneGap(t *testing.T) {
	t.Parallel()
	low, high := byAge(id.New()), "z"
	for range 1000 {
		high = positionBetween(low, high)
	}
	if len(high) > 300 {
		t.Errorf("%d digits after a thousand moves to the same place", len(high))
	}
}

func TestTheEndsOfAStageKeepPositionsShort(t *testing.T) {
	t.Parallel()
	first, last := byAge(id.New()), byAge(id.New())
	for range 1000 {
		p, q := shortPosition("", first), shortPosition(last, "")
		if p >= first || q <= last || len(p) > 40 || len(q) > 40 {
			t.Fatalf("before %q is %q, after %q is %q", first, p, last, q)
		}
		first, last = p, q
	}
	if !strings.HasPrefix(last, "g") {
		t.Errorf("the last position is %q", last)
	}
}
