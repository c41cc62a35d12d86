package significance_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sequences/significance"
)

type arm = significance.Arm

func of(trials, successes int) arm { return arm{Trials: trials, Successes: successes} }

func random(r *rand.Rand, most int) arm {
	n := r.IntN(most)
	return arm{Trials: n, Successes: r.IntN(n + 1)}
}

// exact returns the probability that b has a higher share than a, by the closed form for whole parameters.
func exact(a, b arm) float64 {
	lnBeta := func(x, y float64) float64 {
		gx, _ := math.Lgamma(x)
		gy, _ := math.Lgamma(y)
		gxy, _ := math.Lgamma(x + y)
		return gx + gy - gxy
	}
	a1, b1 := float64(a.Successes)+1, float64(a.Trials-a.Successes)+1
	b2 := float64(b.Trials-b.Successes) + 1
	sum := 0.0
	for i := range b.Successes + 1 {
		n := float64(i)
		sum += math.Exp(lnBeta(a1+n, b1+b2) - math.Log(b2+n) - lnBeta(1+n, b2) - lnBeta(a1, b1))
	}
	return sum
}

func TestTheBestOfTwoEqualsTheClosedForm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		a, b := random(r, 2000), random(r, 2000)
		got, want := significance.Best([]arm{a, b})[1], exact(a, b)
		if math.Abs(got-want) > 2e-3 {
			t.Errorf("%+v against %+v: %.5f, want %.5f", b, a, got, want)
		}
	}
}

func TestTheBestOfManyEqualsASimulation(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 1))
	for range 20 {
		arms := make([]arm, 2+r.IntN(4))
		for i := range arms {
			arms[i] = random(r, 60)
		}
		const draws = 20_000
		wins := make([]int, len(arms))
		for range draws {
			best, at := -1.0, 0
			for i, a := range arms {
				if x := draw(r, a); x > best {
					best, at = x, i
				}
			}
			wins[at]++
		}
		for i, p := range significance.Best(arms) {
			if d := p - float64(wins[i])/draws; math.Abs(d) > 0.02 {
				t.Errorf("%+v: arm %d is the best with %.4f, simulated %.4f", arms, i, p, float64(wins[i])/draws)
			}
		}
	}
}

// draw draws a share from the posterior distribution: the k'th smallest of n uniform numbers has Beta(k, n+1-k).
func draw(r *rand.Rand, a arm) float64 {
	alpha, beta := a.Successes+1, a.Trials-a.Successes+1
	gamma := func(shape int) float64 {
		sum := 0.0
		for range shape {
			sum += r.ExpFloat64()
		}
		return sum
	}
	x, y := gamma(alpha), gamma(beta)
	return x / (x + y)
}

func TestTheProbabilitiesKeepTheirLaws(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		arms := make([]arm, 1+r.IntN(5))
		for i := range arms {
			arms[i] = random(r, 100_000)
		}
		p, sum := significance.Best(arms), 0.0
		for i := range p {
			if p[i] < 0 || p[i] > 1 || math.IsNaN(p[i]) {
				t.Fatalf("%+v: %v", arms, p)
			}
			sum += p[i]
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%+v: the sum is %v", arms, sum)
		}
		at := r.IntN(len(arms))
		more := append([]arm(nil), arms...)
		more[at].Trials++
		more[at].Successes++
		if after := significance.Best(more); after[at] < p[at]-1e-3 {
			t.Errorf("%+v: a success of arm %d lowered %v to %v", arms, at, p[at], after[at])
		}
	}
	same := significance.Best([]arm{of(500, 40), of(500, 40), of(500, 40), of(500, 40)})
	for _, p := range same {
		if math.Abs(p-0.25) > 1e-9 {
			t.Errorf("four equal arms: %v", same)
		}
	}
	if len(significance.Best(nil)) != 0 {
		t.Error("no arms have a best one")
	}
}

func TestTheIntervalHasTheRateAndCoversTheTruth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	covered := 0
	const rounds = 4000
	for range rounds {
		n, truth := 20+r.IntN(2000), 0.01+0.5*r.Float64()
		a := arm{Trials: n}
		for range n {
			if r.Float64() < truth {
				a.Successes++
			}
		}
		low, high := a.Interval()
		if low < 0 || high > 1 || low > a.Rate() || high < a.Rate() {
			t.Fatalf("%+v: %v to %v", a, low, high)
		}
		if low <= truth && truth <= high {
			covered++
		}
		if wide := (arm{Trials: 4 * a.Trials, Successes: 4 * a.Successes}); width(wide) > width(a) {
			t.Errorf("%+v: four times the data give a wider interval", a)
		}
	}
	if share := float64(covered) / rounds; share < 0.935 || share > 0.97 {
		t.Errorf("%.3f of the intervals cover the truth", share)
	}
	if low, high := (arm{}).Interval(); low != 0 || high != 1 || (arm{}).Rate() != 0 {
		t.Errorf("without trials: %v to %v", low, high)
	}
}

func width(a arm) float64 {
	low, high := a.Interval()
	return high - low
}

func TestArmsAreComparedOnlyWithDataAndTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arms []arm
		age  time.Duration
		ok   bool
	}{
		"enough":     {[]arm{of(400, 12), of(200, 0)}, 24 * time.Hour, true},
		"young":      {[]arm{of(400, 12), of(400, 40)}, 24*time.Hour - 1, false},
		"few trials": {[]arm{of(199, 2), of(400, 40)}, 48 * time.Hour, false},
		"one arm":    {[]arm{of(400, 30)}, 48 * time.Hour, false},
		"none":       {nil, 48 * time.Hour, false},
	} {
		if ok := significance.Comparable(c.arms, c.age); ok != c.ok {
			t.Errorf("%s: %v, want %v", name, ok, c.ok)
		}
	}
}

func TestAWinnerIsNamedOnlyWhenTheDifferenceIsSure(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		arms []arm
		age  time.Duration
		best int
		ok   bool
	}{
		"sure":         {[]arm{of(300, 10), of(300, 60)}, day, 1, true},
		"sure of many": {[]arm{of(300, 10), of(300, 60), of(300, 25)}, day, 1, true},
		"two of many":  {[]arm{of(300, 60), of(300, 61), of(300, 1)}, day, 0, false},
		"the same":     {[]arm{of(300, 30), of(300, 30)}, day, 0, false},
		"not yet sure": {[]arm{of(300, 30), of(300, 40)}, day, 0, false},
		"no replies":   {[]arm{of(3000, 0), of(3000, 0)}, day, 0, false},
		"too young":    {[]arm{of(300, 10), of(300, 60)}, day - 1, 0, false},
		"too few":      {[]arm{of(300, 10), of(199, 60)}, day, 0, false},
	} {
		if best, ok := significance.Winner(c.arms, c.age); ok != c.ok || best != c.best {
			t.Errorf("%s: arm %d, %v; want %d, %v", name, best, ok, c.best, c.ok)
		}
	}
}
