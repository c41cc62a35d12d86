package learn

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/funnelwork/funnelwork/internal/scoring"
)

func sample(r *rand.Rand, n int) []Example {
	ex := make([]Example, n)
	for i := range ex {
		ex[i] = Example{At: time.Unix(int64(i), 0), Won: r.IntN(3) == 0, Contact: scoring.Contact{
			Stage: []string{"lead", "own", "rare stage"}[min(r.IntN(40), 2)], Email: "a@b.example",
			JobTitle: []string{"", "CEO", "cook"}[r.IntN(3)],
			Source:   []string{"", "Google Ads", "ads", "fair 2026", "x"}[r.IntN(5)], Company: r.IntN(2) == 0,
			Tags: []string{"hot", "Q3", "q3", "u1", "u2", "u3", "u4"}[:r.IntN(8)],
			Values: map[string]any{
				"n": math.Round(r.NormFloat64() * 5), "t": []string{"A", "b", "c"}[r.IntN(3)],
				"d": "2026-0" + string(rune('1'+r.IntN(9))) + "-01",
			},
		}}
	}
	return ex
}

// Training and scoring read a contact alike: the sum of the fit's weights equals the model's log odds.
func TestTheModelSaysWhatTheFitSaid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	ex := sample(r, 600)
	d := newDesign(newColumns(ex, scoring.Prior()), ex)
	f, err := d.fitAll(t.Context(), scoring.Prior())
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.scoringModel("v", scoring.Learned)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ex {
		want := logistic(d.logOdds(f.w, i))
		if got := m.Score(&ex[i].Contact).Probability; math.Abs(got-want) > 1e-12 {
			t.Fatalf("%+v: the model says %v, the fit %v", ex[i].Contact, got, want)
		}
	}
}

// The gradient is zero at the result, and every step away from it is worse.
func TestTheFitIsTheMostLikelyOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	ex := sample(r, 300)
	d := newDesign(newColumns(ex, scoring.Prior()), ex)
	f, err := d.fitAll(t.Context(), scoring.Prior())
	if err != nil {
		t.Fatal(err)
	}
	rows := rowRange(0, len(ex))
	best := d.logPosterior(f.b, rows, f.w)
	for range 500 {
		w := append([]float64(nil), f.w...)
		for i := range w {
			w[i] += r.NormFloat64() * math.Pow(10, -float64(1+r.IntN(3)))
		}
		if v := d.logPosterior(f.b, rows, w); v > best+1e-7 {
			t.Fatalf("a step away has %v, the answer %v", v, best)
		}
	}
}

func TestBinsHoldAboutAsManyValuesEach(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	var all []float64
	for range 2000 {
		all = append(all, 0, math.Round(r.ExpFloat64()*100))
	}
	edges := binEdges(all)
	if len(edges) == 0 || edges[0] > 3 || len(edges) >= maxBins {
		t.Fatalf("edges %v: want 1 to %d, the first at most 3, since zeros are a bin of their own", edges, maxBins-1)
	}
	count := make([]int, len(edges)+1)
	for _, x := range all {
		i := 0
		for i < len(edges) && x >= edges[i] {
			i++
		}
		count[i]++
	}
	for i, n := range count {
		if n == 0 || i > 0 && i < len(count)-1 && n > 400 {
			t.Errorf("bin %d of %v has %d values", i, edges, n)
		}
	}
	if got := binEdges([]float64{1, 1, 1}); got != nil {
		t.Errorf("edges of a constant: %v", got)
	}
}

// The prior of a number's bins is the sum of a line and a curve: the expected products of weights match both.
func TestThePriorOfANumbersBinsIsALineAndACurve(t *testing.T) {
	t.Parallel()
	sorted := []float64{-1e300, 0, 1, 2, 3, 4, 5, 1e300}
	for _, c := range []struct {
		name   string
		sorted []float64
		want   []float64
	}{
		{"equal steps", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{-1.2185, -0.1741, 1.0445}},
		{"one value far out counts for two standard deviations", sorted[1:], []float64{-0.4082, -0.4082, 2}},
		{"values whose squares no float64 holds", sorted, []float64{-0.5, 0, 2}},
		{"no values", nil, []float64{0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			edges := []float64{3, 6}
			at := binPositions(c.sorted, edges)
			for i := range at {
				if math.Abs(at[i]-c.want[i]) > 1e-3 {
					t.Errorf("positions %v, want %v", at, c.want)
				}
			}
			var chol, alone mat.Cholesky
			var both, curve mat.SymDense
			if !chol.Factorize(orderedPrecision(c.sorted, edges)) || !alone.Factorize(orderedPrecision(nil, edges)) {
				t.Fatal("a precision is not positive definite")
			}
			if err := errors.Join(chol.InverseTo(&both), alone.InverseTo(&curve)); err != nil {
				t.Fatal(err)
			}
			for i := range at {
				for j := range at {
					if want := curve.At(i, j) + at[i]*at[j]; math.Abs(both.At(i, j)-want) > 1e-9 {
						t.Errorf("covariance of %d and %d: %v, want %v", i, j, both.At(i, j), want)
					}
				}
			}
		})
	}
}
