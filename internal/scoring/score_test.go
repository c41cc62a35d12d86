package scoring_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/scoring"
)

var (
	stages = []string{
		"subscriber", "lead", "mql", "sql", "opportunity", "customer", "evangelist", "other",
		"of their own",
	}
	domains = []string{"acme.example", "gmail.com", "mailinator.com", "yahoo.co.uk", "x.mailinator.com", "GMX.de"}
	titles  = []string{"", "CEO", "Senior Engineer", "Assistant to the CEO", "Plumber", "Head of Sales"}
	sources = []string{"", "referral", "Google Ads", "purchased list", "a trade fair"}
	tags    = []string{"hot", "VIP", "cold", "spam", "blue", "green", "red", "q3-campaign", "demo", "student"}
)

func random(r *rand.Rand) scoring.Contact {
	c := scoring.Contact{
		Stage: stages[r.IntN(len(stages))], Email: "a@" + domains[r.IntN(len(domains))],
		JobTitle: titles[r.IntN(len(titles))],
		Source:   sources[r.IntN(len(sources))], Company: r.IntN(2) == 0, Phone: r.IntN(2) == 0,
		Owner: r.IntN(2) == 0, Values: valued(r.IntN(8)),
	}
	for _, i := range r.Perm(len(tags))[:r.IntN(len(tags))] {
		c.Tags = append(c.Tags, tags[i])
	}
	return c
}

// valued returns n custom fields.
func valued(n int) map[string]any {
	values := map[string]any{}
	for i := range n {
		values[string(rune('a'+i))] = true
	}
	return values
}

// wild returns a model with random weights, so that exactness does not depend on the prior's round numbers.
func wild(r *rand.Rand) *scoring.Model {
	m := scoring.Prior()
	m.Intercept = r.NormFloat64() * 3
	for _, levels := range m.Weights {
		for l := range levels {
			levels[l] = r.NormFloat64() * 2
		}
	}
	return m
}

func TestReasonsAddUpToTheScoreExactlyAlsoAfterJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		m := scoring.Prior()
		if i%2 == 1 {
			m = wild(r)
		}
		c := random(r)
		s, reasons := m.Explain(&c, nil)
		b, err := json.Marshal(reasons)
		if err != nil {
			t.Fatal(err)
		}
		var back []scoring.Reason
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range back {
			sum += x.Points
		}
		if math.Abs(sum-s.Lead) > 1e-9 {
			t.Fatalf("%+v: reasons add up to %v, the score is %v", c, sum, s.Lead)
		}
		if s != m.Score(&c) {
			t.Fatalf("%+v: Explain says %+v, Score %+v", c, s, m.Score(&c))
		}
		if want := math.Round(s.Probability*10000) / 100; s.Lead != want || s.Lead < 0 || s.Lead > 100 {
			t.Fatalf("score %v of probability %v, want %v and 0 to 100", s.Lead, s.Probability, want)
		}
		if back[0].Feature != scoring.Base {
			t.Fatalf("first reason is %v, want the base", back[0])
		}
	}
}

func TestAReasonHasTheSignOfItsWeight(t *testing.T) {
	t.Parallel()
	m := scoring.Prior()
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		c := random(r)
		_, reasons := m.Explain(&c, nil)
		for _, x := range reasons {
			w := 0.0
			switch x.Feature {
			case scoring.Company, scoring.EmailDomain, scoring.Phone, scoring.Stage:
				w = m.Weights[x.Feature][x.Value]
			default:
				continue
			}
			if math.Abs(x.Points) > 0.02 && math.Signbit(x.Points) != math.Signbit(w) {
				t.Fatalf("%+v: %s %q weighs %v and has %v points", c, x.Feature, x.Value, w, x.Points)
			}
		}
	}
}

func TestWhatTheContractNamesMovesTheScore(t *testing.T) {
	t.Parallel()
	m := scoring.Prior()
	base := scoring.Contact{Stage: "lead", Email: "ada@acme.example"}
	with := func(change func(*scoring.Contact)) scoring.Contact {
		c := base
		change(&c)
		return c
	}
	for name, rising := range map[string][]scoring.Contact{
		"stage": {with(func(c *scoring.Contact) {
			c.Stage = "subscriber"
		}), base, with(func(c *scoring.Contact) { c.Stage = "mql" }), with(func(c *scoring.Contact) {
			c.Stage = "sql"
		}), with(func(c *scoring.Contact) { c.Stage = "opportunity" }), with(func(c *scoring.Contact) {
			c.Stage = "customer"
		})},
		"company": {base, with(func(c *scoring.Contact) { c.Company = true })},
		"domain": {with(func(c *scoring.Contact) {
			c.Email = "ada@sub.YOPmail.com"
		}), with(func(c *scoring.Contact) { c.Email = "ada@Gmail.com" }), base},
		"known tag": {with(func(c *scoring.Contact) { c.Tags = []string{"spam"} }), with(func(c *scoring.Contact) {
			c.Tags = []string{"cold"}
		}), base, with(func(c *scoring.Contact) { c.Tags = []string{"Hot"} })},
		"any tag": {base, with(func(c *scoring.Contact) {
			c.Tags = []string{"xyzzy"}
		}), with(func(c *scoring.Contact) { c.Tags = []string{"xyzzy", "plugh"} })},
		"phone": {base, with(func(c *scoring.Contact) { c.Phone = true })},
		"title": {with(func(c *scoring.Contact) {
			c.JobTitle = "Assistant to the CEO"
		}), base, with(func(c *scoring.Contact) { c.JobTitle = "Plumber" }), with(func(c *scoring.Contact) {
			c.JobTitle = "Sales Manager"
		}), with(func(c *scoring.Contact) { c.JobTitle = "Chief Executive" })},
		"source": {with(func(c *scoring.Contact) {
			c.Source = "purchased list"
		}), base, with(func(c *scoring.Contact) { c.Source = "Referral" })},
		"owner": {base, with(func(c *scoring.Contact) { c.Owner = true })},
		"completeness": {base, with(func(c *scoring.Contact) { c.Values = valued(1) }), with(func(c *scoring.Contact) {
			c.Values = valued(9)
		})},
	} {
		for i := 1; i < len(rising); i++ {
			lo, hi := m.Score(&rising[i-1]), m.Score(&rising[i])
			if lo.Lead >= hi.Lead {
				t.Errorf("%s: %+v has %v, %+v has %v; want a rise", name, rising[i-1], lo.Lead, rising[i], hi.Lead)
			}
		}
	}
}

func TestMoreThanTheRoomForTagsIsNoError(t *testing.T) {
	t.Parallel()
	c := scoring.Contact{Stage: "lead", Email: "a@b.example"}
	for range 200 {
		c.Tags = append(c.Tags, "any")
	}
	s, reasons := scoring.Prior().Explain(&c, nil)
	sum := 0.0
	for _, r := range reasons {
		sum += r.Points
	}
	if math.Abs(sum-s.Lead) > 1e-9 {
		t.Errorf("sum %v, score %v", sum, s.Lead)
	}
}

func TestTheKindOfADomain(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]string{
		"a@gmail.com": "free", "a@GMAIL.com": "free", "a@yahoo.co.uk": "free", "a@hotmail.fr": "free",
		"a@live.com.au":    "free",
		"a@mailinator.com": "disposable", "a@x.y.mailinator.com": "disposable", "a@mail.tm": "disposable",
		"a@acme.com": "business", "a@notgmail.com": "business", "a@mail.gmail.com.example": "business",
		"a@yahoo.example.company": "business",
		"a@münchen.example":       "business", "": "business",
	} {
		if got := scoring.DomainKind(email); got != want {
			t.Errorf("DomainKind(%q) = %s, want %s", email, got, want)
		}
	}
}

func TestAModelSurvivesJSONAndNonsenseDoesNot(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(scoring.Prior())
	if err != nil {
		t.Fatal(err)
	}
	back, err := scoring.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scoring.Prior(), back); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{``, `{}`, `{"version":"x","weights":{"stage":{"lead":1e9}}}`} {
		if _, err := scoring.Parse([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestAMoveIsToldAtABandOrAtFivePoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		told, now float64
		want      bool
	}{
		{10, 14.99, false},
		{10, 15, true},
		{24.99, 25, true},
		{25, 24.99, true},
		{60, 55.01, false},
		{60, 60, false},
		{74, 76, true},
	} {
		if got := scoring.Moved(c.told, c.now); got != c.want {
			t.Errorf("Moved(%v, %v) = %v", c.told, c.now, got)
		}
	}
}

func TestReasonsComeByFallingPointsAndThoseOfOneSizeInTheOrderOfTheFeatures(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 22))
	for range 500 {
		m, c := wild(r), random(r)
		_, reasons := m.Explain(&c, nil)
		if reasons[0].Feature != scoring.Base {
			t.Fatalf("the first reason is %v", reasons[0])
		}
		for i := 2; i < len(reasons); i++ {
			a, b := reasons[i-1], reasons[i]
			if math.Abs(a.Points) < math.Abs(b.Points) {
				t.Fatalf("%v comes before %v", a, b)
			}
		}
	}
	var same []scoring.Feature // none of these has a weight here
	m := scoring.Prior()
	m.Weights = nil
	_, reasons := m.Explain(&scoring.Contact{}, nil)
	for _, one := range reasons[1:] {
		same = append(same, one.Feature)
	}
	want := []scoring.Feature{
		scoring.Stage, scoring.Company, scoring.EmailDomain, scoring.JobTitle, scoring.Source,
		scoring.Phone, scoring.Owner, scoring.Attributes,
	}
	if !slices.Equal(same, want) {
		t.Errorf("%v, want %v", same, want)
	}
}

func TestScoringAllocatesNothing(t *testing.T) {
	m := scoring.Prior()
	c := scoring.Contact{
		Stage: "mql", Email: "Ada@acme.example", JobTitle: "Head of Sales", Source: "Google Ads",
		Tags: []string{"Hot", "q3"}, Company: true,
	}
	reasons := make([]scoring.Reason, 0, 32)
	if n := testing.AllocsPerRun(100, func() { m.Score(&c) }); n != 0 {
		t.Errorf("Score allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, reasons = m.Explain(&c, reasons[:0]) }); n != 0 {
		t.Errorf("Explain allocates %v times", n)
	}
}

func BenchmarkScore(b *testing.B) {
	m, c := scoring.Prior(),
		scoring.Contact{
			Stage: "mql", Email: "Ada@acme.example", JobTitle: "Head of Sales", Source: "Google Ads",
			Tags: []string{"Hot", "q3"}, Company: true,
		}
	b.ReportAllocs()
	for b.Loop() {
		m.Score(&c)
	}
}

func BenchmarkScoreWithReasons(b *testing.B) {
	m, c := scoring.Prior(),
		scoring.Contact{
			Stage: "mql", Email: "Ada@acme.example", JobTitle: "Head of Sales", Source: "Google Ads",
			Tags: []string{"Hot", "q3"}, Company: true,
		}
	reasons := make([]scoring.Reason, 0, 32)
	b.ReportAllocs()
	for b.Loop() {
		_, reasons = m.Explain(&c, reasons[:0])
	}
}
