package learn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// truth determines the outcome in a simulated market.
func truth(c *scoring.Contact) float64 {
	z := -0.5
	switch c.Values["plan"] {
	case "Gold", "gold":
		z += 1.5
	case "Iron":
		z--
	}
	if x, ok := c.Values["visits"].(float64); ok {
		z += 0.25 * (x - 5)
	}
	if c.Values["trial"] == true {
		z += 0.8
	}
	if c.Stage == "mql" {
		z++
	}
	return z
}

func market(r *rand.Rand, n int) []learn.Example {
	out := make([]learn.Example, n)
	for i := range out {
		c := scoring.Contact{
			Stage:  []string{"lead", "lead", "mql"}[r.IntN(3)],
			Email:  []string{"a@acme.example", "a@gmail.com"}[r.IntN(2)],
			Source: []string{"", "Google Ads", "fair"}[r.IntN(3)],
			Values: map[string]any{"noise": fmt.Sprintf("n%d", r.IntN(12))},
		}
		if r.IntN(4) > 0 {
			c.Values["plan"] = []string{"Gold", "gold", "Silver", "Iron"}[r.IntN(4)]
		}
		if r.IntN(5) > 0 {
			c.Values["visits"] = float64(r.IntN(11))
		}
		if r.IntN(2) > 0 {
			c.Values["trial"] = r.IntN(2) > 0
		}
		if r.IntN(3) == 0 {
			c.Values["since"] = time.Unix(0, 0).AddDate(r.IntN(50), 0, r.IntN(365)).Format(time.DateOnly)
		}
		for _, tag := range []string{"hot", "q3", "blue"} {
			if r.IntN(3) == 0 {
				c.Tags = append(c.Tags, tag)
			}
		}
		out[i] = learn.Example{Contact: c, At: time.Unix(int64(i), 0), Won: r.Float64() < chance(truth(&c))}
	}
	return out
}

func chance(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func judge(m *scoring.Model, ex []learn.Example) learn.Metrics {
	p, won := make([]float64, len(ex)), make([]bool, len(ex))
	for i := range ex {
		p[i], won[i] = m.Score(&ex[i].Contact).Probability, ex[i].Won
	}
	return learn.Measure(p, won)
}

func train(t *testing.T, ex []learn.Example) (*scoring.Model, *learn.Report) {
	t.Helper()
	m, r, err := learn.Train(t.Context(), "v", ex, scoring.Prior(), learn.Incumbent{Model: scoring.Prior()})
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func TestItComesNearWhatReallyDecides(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	all := market(r, 6000)
	held := all[3000:]
	best := make([]float64, len(held))
	won := make([]bool, len(held))
	for i := range held {
		best[i], won[i] = chance(truth(&held[i].Contact)), held[i].Won
	}
	oracle := learn.Measure(best, won)
	m, rep := train(t, all[:3000])
	got := judge(m, held)
	if got.AUC < oracle.AUC-0.01 || got.LogLoss > oracle.LogLoss+0.01 || got.ECE > 0.04 {
		t.Errorf("on unseen outcomes %+v, want an ECE of at most 0.04 and the rest within 0.01 of %+v", got, oracle)
	}
	if rep.Metrics == nil || math.Abs(rep.Metrics.AUC-got.AUC) > 0.03 {
		t.Errorf("the report says %+v, it is %+v", rep.Metrics, got)
	}
	if m.Confidence != scoring.Learned || rep.Outcomes != 3000 || len(rep.Quarantined) != 0 {
		t.Errorf("confidence %s, %d outcomes, quarantined %v; want %s, 3000, none", m.Confidence, rep.Outcomes,
			rep.Quarantined, scoring.Learned)
	}
	seen := 0
	for _, b := range rep.Reliability {
		seen += b.Count
	}
	if seen != rep.Metrics.Count || rep.Metrics.Count != 1500 {
		t.Errorf("the reliability table has %d of %d", seen, rep.Metrics.Count)
	}
}

// Few outcomes must not make the model worse, and more must make it better.
func TestThePriorFadesAsOutcomesGrow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	held := market(r, 4000)
	last := judge(scoring.Prior(), held).AUC
	for _, n := range []int{30, 120, 500, 2000} {
		var mean float64
		const draws = 6
		for range draws {
			m, _ := train(t, market(r, n))
			mean += judge(m, held).AUC / draws
		}
		if mean < last {
			t.Errorf("with %d outcomes the AUC is %.3f, with fewer it was %.3f", n, mean, last)
		}
		last = mean
	}
	for n, want := range map[int]scoring.Confidence{
		29: scoring.FromPrior, 30: scoring.Learning,
		249: scoring.Learning, 250: scoring.Learned,
	} {
		if m, _ := train(t, market(r, n)); m.Confidence != want {
			t.Errorf("%d outcomes: confidence %s, want %s", n, m.Confidence, want)
		}
	}
}

func TestAModelIsTheSameAfterItWasStored(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	ex := market(r, 800)
	m, _ := train(t, ex)
	again, _ := train(t, ex)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if b2, _ := json.Marshal(again); string(b) != string(b2) {
		t.Error("the same examples made another model")
	}
	back, err := scoring.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range market(r, 10_000) {
		s, reasons := m.Explain(&e.Contact, nil)
		s2, reasons2 := back.Explain(&e.Contact, nil)
		if s != s2 || !cmp.Equal(reasons, reasons2) {
			t.Fatalf("%+v: %v before, %v after", e.Contact, s, s2)
		}
		sum := 0.0
		for _, x := range reasons {
			sum += x.Points
		}
		if math.Abs(sum-s.Lead) > 1e-9 {
			t.Fatalf("%+v: reasons add up to %v, the score is %v", e.Contact, sum, s.Lead)
		}
	}
}

func TestAFieldThatKnowsTheOutcomeIsQuarantined(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	clean := market(r, 2000)
	plain, _ := train(t, clean)
	leaky := make([]learn.Example, len(clean))
	for i, e := range clean {
		e.Contact.Values = map[string]any{"call": "ringing"}
		for k, v := range clean[i].Contact.Values {
			e.Contact.Values[k] = v
		}
		if e.Won == (r.IntN(20) > 0) {
			e.Contact.Values["call"] = "will revert"
		}
		// That a budget is noted says little; that it is noted near the end of the deal says much.
		if r.IntN(2) == 0 {
			e.Contact.Values["budget"] = float64(r.IntN(9))
			if r.IntN(4) == 0 {
				e.Edited = []scoring.Feature{scoring.FieldFeature("budget")}
			}
		}
		leaky[i] = e
	}
	m, rep := train(t, leaky)
	got := map[scoring.Feature]string{}
	for _, q := range rep.Quarantined {
		got[q.Feature] = q.Reason
	}
	if want := map[scoring.Feature]string{
		"attributes.call":   "tells_outcome",
		"attributes.budget": "edited_near_outcome",
	}; !cmp.Equal(got, want) {
		t.Fatalf("quarantined %v, want %v", rep.Quarantined, want)
	}
	for _, f := range m.Fields {
		if got[scoring.FieldFeature(f.Key)] != "" {
			t.Errorf("the model weighs %s", f.Key)
		}
	}
	held := market(r, 2000)
	if a, b := judge(plain, held), judge(m, held); b.LogLoss > a.LogLoss+0.01 {
		t.Errorf("with leaks planted the log loss is %.4f, without %.4f", b.LogLoss, a.LogLoss)
	}
	for i := range leaky { // the same values, set at creation
		leaky[i].Edited = nil
	}
	if _, rep = train(t, leaky); len(rep.Quarantined) != 1 {
		t.Errorf("quarantined %v; a budget that was there from the beginning is none of them", rep.Quarantined)
	}
}

func TestOutcomesOfOneKindTeachNothing(t *testing.T) {
	t.Parallel()
	ex := market(rand.New(rand.NewPCG(5, 5)), 50)
	for i := range ex {
		ex[i].Won = true
	}
	for _, some := range [][]learn.Example{nil, ex} {
		if _, _, err := learn.Train(t.Context(), "v", some, scoring.Prior(),
			learn.Incumbent{Model: scoring.Prior()}); !errors.Is(err, learn.ErrTooFew) {
			t.Errorf("%d outcomes: %v", len(some), err)
		}
	}
}

func TestStrangeValuesAreLearnedFromAndScored(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	odd := []any{
		nil, "", "x", math.MaxFloat64, -math.MaxFloat64, 0.0, true, "2026-02-30", "2026-02-28", "ÄÖ",
		string(make([]byte, 300)), 1e-300,
	}
	ex := market(r, 400)
	for i := range ex {
		for k := range 6 {
			if v := odd[r.IntN(len(odd))]; v != nil {
				ex[i].Contact.Values[fmt.Sprintf("odd%d", k)] = v
			}
		}
		ex[i].Contact.Stage = []string{"", "lead", "of their own"}[r.IntN(3)]
	}
	m, _ := train(t, ex)
	for i := range ex {
		if p := m.Score(&ex[i].Contact).Probability; !(p > 0 && p < 1) {
			t.Fatalf("probability %v of %+v", p, ex[i].Contact)
		}
	}
}

func TestTheAreaUnderTheCurveCountsTiesHalf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    []float64
		won  []bool
		want float64
	}{
		{[]float64{0.1, 0.9}, []bool{false, true}, 1},
		{[]float64{0.9, 0.1}, []bool{false, true}, 0},
		{[]float64{0.5, 0.5}, []bool{false, true}, 0.5},
		{[]float64{0.1, 0.4, 0.35, 0.8}, []bool{false, false, true, true}, 0.75},
		{[]float64{0.3, 0.4}, []bool{true, true}, 0.5},
	} {
		if got := learn.AUC(c.p, c.won); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("AUC of %v, %v is %v, want %v", c.p, c.won, got, c.want)
		}
	}
}

// With 30 outcomes the later half says little; a better model must not be rejected by chance.
func TestFewOutcomesPromoteAModelThatIsBetterAndNoneThatIsWorse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 17))
	held := market(r, 4000)
	prior := judge(scoring.Prior(), held)
	for _, step := range []struct {
		n   int
		bar float64 // minimum AUC, for nine draws of ten
	}{{30, 0.565}, {60, 0.65}} {
		const draws = 20
		n, promoted, better, met := step.n, 0, 0, 0
		for range draws {
			m, rep := train(t, market(r, n))
			got := judge(m, held)
			if got.AUC >= step.bar && rep.Comparison.Won() {
				met++
			}
			if got.LogLoss < prior.LogLoss {
				better++
			}
			if !rep.Comparison.Won() {
				continue
			}
			promoted++
			if got.LogLoss > prior.LogLoss+0.02 {
				t.Errorf("%d outcomes: promoted with log loss %.4f, the prior has %.4f: %+v", n, got.LogLoss,
					prior.LogLoss, rep.Comparison)
			}
			if rep.Comparison.Outcomes != n {
				t.Errorf("%d outcomes: %d decided", n, rep.Comparison.Outcomes)
			}
		}
		t.Logf("%d outcomes: %d of %d promoted, %d better, %d at the bar", n, promoted, draws, better, met)
		if met < draws*9/10 {
			t.Errorf("%d outcomes: %d of %d models in use have an AUC of %.3f", n, met, draws, step.bar)
		}
		if promoted < draws*9/10 {
			t.Errorf("%d outcomes: %d of %d models were promoted, %d were better", n, promoted, draws, better)
		}
	}
}

func TestWhereThePriorIsRightFewOutcomesDoNoHarm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(18, 18))
	asForetold := func(n int) []learn.Example {
		ex := market(r, n)
		for i := range ex {
			ex[i].Won = r.Float64() < scoring.Prior().Score(&ex[i].Contact).Probability
		}
		return ex
	}
	held := asForetold(4000)
	prior := judge(scoring.Prior(), held)
	for _, n := range []int{30, 60} {
		var harm float64
		const draws = 20
		for range draws {
			m, rep, err := learn.Train(t.Context(), "v", asForetold(n), scoring.Prior(),
				learn.Incumbent{Model: scoring.Prior()})
			if errors.Is(err, learn.ErrTooFew) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if rep.Comparison.Won() {
				harm += max(0, judge(m, held).LogLoss-prior.LogLoss) / draws
			}
		}
		t.Logf("%d outcomes: the log loss rises by %.4f on average", n, harm)
		if harm > 0.05 {
			t.Errorf("%d outcomes: the log loss rises by %.4f on average", n, harm)
		}
	}
}

func TestAModelThatForetellsWorseLosesTheContest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 10))
	ex := market(r, 1500)
	first, rep := train(t, ex[:800])
	if !rep.Comparison.Won() {
		t.Fatalf("against the prior: %+v", rep.Comparison)
	}
	inUse := learn.Incumbent{Model: first, Seen: ex[799].At}
	again := func(ex []learn.Example) learn.Comparison {
		_, rep, err := learn.Train(t.Context(), "w", ex, scoring.Prior(), inUse)
		if err != nil {
			t.Fatal(err)
		}
		return rep.Comparison
	}
	if c := again(ex); !c.Won() && c.LogLoss > c.InUse+0.005 {
		t.Errorf("with twice the outcomes: %+v", c)
	}
	// Half a year of random outcomes: a model trained on them is worse for the correct outcomes that follow.
	broken := append([]learn.Example(nil), ex...)
	for i := 100; i < 1380; i++ {
		broken[i].Won = r.IntN(2) == 0
	}
	inUse.Seen = broken[1379].At
	if c := again(broken); c.Won() || c.Outcomes != 120 {
		t.Errorf("after broken outcomes: %+v", c)
	}
}

func TestScoringByALearnedModelAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	all := market(r, 1500)
	m, _ := train(t, all)
	reasons := make([]scoring.Reason, 0, 32)
	n := testing.AllocsPerRun(20, func() {
		for i := range all[:100] {
			m.Score(&all[i].Contact)
			_, reasons = m.Explain(&all[i].Contact, reasons[:0])
		}
	})
	if n != 0 {
		t.Errorf("a hundred scores with their reasons allocate %v times", n)
	}
}
