package scoring_test

import (
	"math"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/scoring"
)

const day = 24 * time.Hour

// sums returns the sums of clicks and replies of these ages, as the SQL function engagement computes them.
func sums(clicks, replies []time.Duration) []float64 {
	out := make([]float64, 6)
	for i, halfLife := range []time.Duration{7 * day, 30 * day, 90 * day} {
		for _, age := range clicks {
			out[i] += math.Pow(0.5, float64(age)/float64(halfLife))
		}
		for _, age := range replies {
			out[3+i] += math.Pow(0.5, float64(age)/float64(halfLife))
		}
	}
	return out
}

func TestAClickAndAReplyRaiseTheScoreAndFade(t *testing.T) {
	t.Parallel()
	m := scoring.Prior()
	score := func(clicks, replies []time.Duration) float64 {
		c := scoring.Contact{Stage: "lead", Email: "a@acme.example", Engagement: sums(clicks, replies)}
		return m.Score(&c).Lead
	}
	never := score(nil, nil)
	falling := []float64{
		score([]time.Duration{0}, []time.Duration{0}), score(nil, []time.Duration{0}), score([]time.Duration{0}, nil),
		score([]time.Duration{8 * day}, nil), score([]time.Duration{31 * day}, nil),
		score([]time.Duration{91 * day}, nil), never,
	}
	for i := 1; i < len(falling); i++ {
		if falling[i] >= falling[i-1] {
			t.Errorf("score %d is %v after %v, want less", i, falling[i], falling[i-1])
		}
	}
	if got := score([]time.Duration{271 * day}, nil); got != never {
		t.Errorf("after three of the longest half-lives %v, want %v as without a click", got, never)
	}
	if many := score([]time.Duration{0, day, 2 * day}, nil); many <= falling[2] {
		t.Errorf("three clicks have %v, one has %v", many, falling[2])
	}
	unengaged := scoring.Contact{Stage: "lead", Email: "a@acme.example"}
	if got := m.Score(&unengaged).Lead; got != never {
		t.Errorf("without sums %v, with empty ones %v", got, never)
	}
}

func TestAReasonNamesTheLevelOfAnEngagementAlone(t *testing.T) {
	t.Parallel()
	c := scoring.Contact{Stage: "lead", Email: "a@acme.example", Engagement: sums([]time.Duration{22 * day}, nil)}
	got := map[scoring.Feature]string{}
	_, reasons := scoring.Prior().Explain(&c, nil)
	for _, r := range reasons {
		got[r.Feature] = r.Value
	}
	for f, want := range map[scoring.Feature]string{
		scoring.Clicks7: "", scoring.Clicks30: "some", scoring.Clicks90: "some", scoring.Replies90: "",
	} {
		if got[f] != want {
			t.Errorf("%s is %q, want %q", f, got[f], want)
		}
	}
}

func TestAnEngagementFadesWhenItsFirstSumFallsToALowerLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clicks, replies []time.Duration
		want            time.Duration // 0: it has faded already
	}{
		{[]time.Duration{0}, nil, 7 * day},
		{[]time.Duration{8 * day}, nil, 13 * day},   // the weekly sum is faint until day 21
		{[]time.Duration{22 * day}, nil, 8 * day},   // the monthly sum is some until day 30
		{nil, []time.Duration{95 * day}, 175 * day}, // the longest sum is faint until day 270
		{[]time.Duration{0, 0, 0, 0}, nil, 7 * day}, // many until half of four is left
		{[]time.Duration{271 * day}, nil, 0},
		{nil, nil, 0},
	} {
		now := sums(c.clicks, c.replies)
		got, ok := scoring.Fades(now)
		if ok != (c.want > 0) || ok && (got-c.want).Abs() > 2*time.Second {
			t.Errorf("%v, %v: fades in %v, want %v", c.clicks, c.replies, got, c.want)
		}
		if !ok {
			continue
		}
		level := func(after time.Duration) (at scoring.Score) {
			older := func(ages []time.Duration) (out []time.Duration) {
				for _, age := range ages {
					out = append(out, age+after)
				}
				return out
			}
			contact := scoring.Contact{Stage: "lead", Engagement: sums(older(c.clicks), older(c.replies))}
			return scoring.Prior().Score(&contact)
		}
		if level(0) != level(got-3*time.Second) || level(got).Lead >= level(0).Lead {
			t.Errorf("%v, %v: the score is %v, %v before %v, %v after", c.clicks, c.replies, level(0).Lead,
				level(got-3*time.Second).Lead, got, level(got).Lead)
		}
	}
	if _, ok := scoring.Fades(nil); ok {
		t.Error("no engagement fades")
	}
}
