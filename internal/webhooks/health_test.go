package webhooks_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/webhooks"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// down is a failure of an endpoint that is down.
var down = webhooks.Failure(true, true, false, 0)

func TestACircuitOpensAtTheFifthFailureInARowWithinAMinute(t *testing.T) {
	t.Parallel()
	refused := webhooks.Failure(false, true, false, 0) // a 404: the endpoint is reachable
	for name, c := range map[string]struct {
		gap   time.Duration
		tries []webhooks.Misfortune
		open  bool
	}{
		"four":             {0, []webhooks.Misfortune{down, down, down, down}, false},
		"five at once":     {0, []webhooks.Misfortune{down, down, down, down, down}, true},
		"five in a minute": {15 * time.Second, []webhooks.Misfortune{down, down, down, down, down}, true},
		"five in more":     {16 * time.Second, []webhooks.Misfortune{down, down, down, down, down}, false},
		"an answer between": {
			0,
			[]webhooks.Misfortune{down, down, down, down, refused, down, down, down, down},
			false,
		},
		"any number of refused events": {
			0,
			[]webhooks.Misfortune{refused, refused, refused, refused, refused, refused, refused},
			false,
		},
		"five after an hour of silence": {0, []webhooks.Misfortune{down, down, down, down, down}, true},
	} {
		var h webhooks.Health
		for i, m := range c.tries {
			got := h.Suffer(noon.Add(time.Duration(i)*c.gap), m)
			last := i == len(c.tries)-1
			want := c.open && last
			if h.Open() != want || got.Free() {
				t.Errorf("%s: after failure %d open %v, free %v; want %v, false", name, i+1, h.Open(), got.Free(),
					want)
			}
			if hold := map[bool]time.Duration{true: webhooks.ProbeEvery}[want]; got.Hold() != hold {
				t.Errorf("%s: after failure %d held for %v, want %v", name, i+1, got.Hold(), hold)
			}
		}
		if h.FailedEvents != len(c.tries) || h.FailingSince != noon {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// An open circuit would delay the retries of a single event.
func TestTheTriesOfFewEventsNeverOpenACircuit(t *testing.T) {
	t.Parallel()
	// the shortest intervals
	plan := []time.Duration{
		0, 4 * time.Second, 4 * time.Minute, 24 * time.Minute, 96 * time.Minute, 4 * time.Hour,
		8 * time.Hour, 11 * time.Hour, 16 * time.Hour, 19 * time.Hour,
	}
	for _, events := range []int{1, 2} {
		var h webhooks.Health
		at := noon
		for _, wait := range plan {
			at = at.Add(wait)
			for range events {
				if h.Suffer(at, down); h.Open() {
					t.Fatalf("%d events: open at %s", events, at.Sub(noon))
				}
			}
		}
	}
}

func TestAReceiverThatAsksForTimeGetsIt(t *testing.T) {
	t.Parallel()
	asking := func(alone bool, d time.Duration) webhooks.Misfortune { return webhooks.Failure(true, false, alone, d) }
	var h webhooks.Health
	if c := h.Suffer(noon, asking(false, 2*time.Second)); c.Hold() != 2*time.Second || !h.Open() {
		t.Errorf("at the first failure: held for %v, open %v; want 2s, true", c.Hold(), h.Open())
	}
	if want := noon.Add(2 * time.Second); h.NextProbe != want {
		t.Errorf("at the first failure: next probe at %v, want %v", h.NextProbe, want)
	}
	if c := h.Suffer(noon.Add(time.Second), asking(false, 10*time.Second)); c.Hold() != 10*time.Second ||
		h.NextProbe != noon.Add(11*time.Second) {
		t.Errorf("a try that was on its way prolongs it: %+v, %+v", c, h)
	}
	if c := h.Suffer(noon.Add(time.Second), asking(false, 0)); c.Hold() != 0 ||
		h.NextProbe != noon.Add(11*time.Second) {
		t.Errorf("and never shortens it: %+v, %+v", c, h)
	}
	if c := h.Suffer(noon.Add(11*time.Second), asking(true, 48*time.Hour)); c.Hold() != 24*time.Hour {
		t.Errorf("a day at most: %+v", c)
	}
	h = webhooks.Health{
		Streak: 7, StreakFrom: noon, OpenedAt: noon, NextProbe: noon.Add(time.Minute),
		FailingSince: noon,
	}
	if c := h.Suffer(noon.Add(time.Minute), asking(true, time.Second)); c.Hold() != webhooks.ProbeEvery {
		t.Errorf("who is down is not asked more often because of it: %+v", c)
	}
}

func TestProbesGetRarerAndAnAnswerClosesTheCircuit(t *testing.T) {
	t.Parallel()
	probe := webhooks.Failure(true, false, true, 0)
	for open, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, 10 * time.Minute: 30 * time.Second, time.Hour: 3 * time.Minute,
		24 * time.Hour: 10 * time.Minute,
	} {
		h := webhooks.Health{Streak: 5, StreakFrom: noon, OpenedAt: noon, NextProbe: noon}
		if c := h.Suffer(noon.Add(open), probe); c.Hold() != want {
			t.Errorf("open for %s: held for %v, want %v", open, c.Hold(), want)
		}
		if next := noon.Add(open + want); h.OpenedAt != noon || h.NextProbe != next {
			t.Errorf("open for %s: opened at %v, next probe at %v; want %v, %v", open, h.OpenedAt, h.NextProbe, noon,
				next)
		}
	}
	h := webhooks.Health{Streak: 5, StreakFrom: noon, OpenedAt: noon, NextProbe: noon, FailingSince: noon}
	if c := h.Suffer(noon, webhooks.Failure(false, false, false, 0)); c.Free() || !h.Open() {
		t.Errorf("a refusal of what was on its way before: %+v", h)
	}
	if c := h.Suffer(noon, webhooks.Failure(false, false, true, 0)); !c.Free() {
		t.Errorf("a refused probe: %+v is not free", c)
	}
	if h.Open() || h.Streak != 0 {
		t.Errorf("a refused probe: open %v, %d failures in a row; want false, 0", h.Open(), h.Streak)
	}
	if h.FailingSince != noon {
		t.Errorf("a refused probe: failing since %v, want %v", h.FailingSince, noon)
	}
}

func TestTheRuleNeedsBothTheDaysAndTheEvents(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, c := range []struct {
		failing time.Duration
		events  int
		want    int
	}{
		{0, 1000, 0},
		{60 * time.Hour, 9, 45},
		{60 * time.Hour, 10, 50},
		{60*time.Hour - time.Minute, 1000, 49},
		{108 * time.Hour, 18, 90},
		{5*day - time.Second, 20, 99},
		{5 * day, 19, 95},
		{5 * day, 20, 100},
		{50 * day, 2000, 100},
	} {
		h := webhooks.Health{FailingSince: noon.Add(-c.failing), FailedEvents: c.events}
		if got := h.Progress(noon); got != c.want {
			t.Errorf("%s and %d events: %d %%, want %d", c.failing, c.events, got, c.want)
		}
	}
	if h := (webhooks.Health{FailedEvents: 100}); h.Progress(noon) != 0 {
		t.Error("a healthy endpoint has come some of the way")
	}
}
