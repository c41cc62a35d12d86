package emails_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
)

func hours(all ...float64) (out []time.Time) {
	for _, h := range all {
		out = append(out, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(h*float64(time.Hour))))
	}
	return out
}

func TestThreeSoftBouncesInThreeDaysCountAsHard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bounced, delivered []time.Time
		want               bool
	}{
		"two":                           {hours(0, 1), nil, false},
		"three in an hour":              {hours(0, 0.5, 1), nil, true},
		"three in exactly 72 hours":     {hours(0, 30, 72), nil, true},
		"three in more":                 {hours(0, 30, 72.1), nil, false},
		"the last three of four":        {hours(0, 60, 70, 80), nil, true},
		"in any order":                  {hours(80, 60, 70), nil, true},
		"one delivered between":         {hours(0, 10, 20), hours(15), false},
		"one delivered before":          {hours(1, 10, 20), hours(0), true},
		"one delivered afterwards":      {hours(0, 10, 20), hours(30), true},
		"three after a delivered one":   {hours(0, 10, 20, 30), hours(5), true},
		"delivered again and again":     {hours(0, 10, 20, 30, 40), hours(5, 15, 25, 35), false},
		"delivered between two of four": {hours(0, 10, 20, 30), hours(15), false},
	} {
		if got := emails.CountsAsHard(c.bounced, c.delivered); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The rule by its words: some three bounces lie within 72 hours, and no delivery lies between the first and the last.
func TestSoftBouncesAreCountedAsTheRuleSays(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	some := func(most int) []time.Time {
		var at []float64
		for range random.IntN(most) {
			at = append(at, float64(random.IntN(150)))
		}
		return hours(at...)
	}
	for range 20_000 {
		bounced, delivered, want := some(7), some(4), false
		for i := range bounced {
			for j := range bounced {
				for k := range bounced {
					first, last := bounced[i], bounced[k]
					if i == j || j == k || i == k || bounced[j].Before(first) || last.Before(bounced[j]) ||
						last.Sub(first) > 72*time.Hour {
						continue
					}
					free := true
					for _, d := range delivered {
						free = free && (!d.After(first) || !d.Before(last))
					}
					want = want || free
				}
			}
		}
		if got := emails.CountsAsHard(append([]time.Time{}, bounced...), delivered); got != want {
			t.Fatalf("bounced %v, delivered %v: %t, want %t", bounced, delivered, got, want)
		}
	}
}

func TestTheIDThatAServerGivesIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2.0.0 Ok: queued as 4D5F82A0C1":                             "4D5F82A0C1",
		"2.0.0 Ok: queued as 883953f4-6105-42a2-a16a-77a8eac79483":   "883953f4-6105-42a2-a16a-77a8eac79483",
		"Ok: queued as LnYzZ9EZT_6e-Xc2f-Ggqg":                       "LnYzZ9EZT_6e-Xc2f-Ggqg",
		"OK id=1rABCD-000001-AB":                                     "1rABCD-000001-AB",
		"Ok 0102018c1f2e3d4c-aaaaaaaa-bbbb-cccc-000000":              "0102018c1f2e3d4c-aaaaaaaa-bbbb-cccc-000000",
		"<VI1@VI1.eurprd05.prod.outlook.com> [Hostname=VI1.eurprd05": "VI1@VI1.eurprd05.prod.outlook.com",
		"2.0.0 OK  1700000000 a1-20020a05600c4ed200b0040a5290cba0sm": "",
		"Great success":              "",
		"":                           "",
		"queued":                     "",
		"Ok":                         "",
		"queued as <a b@c>":          "",
		"Message accepted <a@b> id=": "a@b",
	} {
		if got := emails.ServerID(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
