package webhookdeliver

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// nominal is the contract's schedule: the delays between 10 attempts, each +-20 %.
var nominal = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

func TestTenAttemptsAreMadeAtThePlannedTimesAndNeverAnEleventh(t *testing.T) {
	t.Parallel()
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			var gaps []time.Duration
			last := time.Now()
			for attempt := 1; ; attempt++ { // as in the worker: failures so far
				gaps = append(gaps, time.Since(last))
				last = time.Now()
				o := webhooks.Outcome{Answer: outbound.Answer{Status: 500}}
				judgeResponse(&o, attempt >= events.DeliverAttempts, attempt)
				if o.Status == webhooks.Exhausted {
					break
				}
				if o.Status != webhooks.Failed {
					t.Fatalf("attempt %d: %s", attempt, o.Status)
				}
				<-time.After(time.Until(o.Next))
			}
			if len(gaps) != len(nominal) {
				t.Fatalf("%d attempts, want %d", len(gaps), len(nominal))
			}
			for i, want := range nominal {
				if gaps[i] < want*8/10 || gaps[i] > want*12/10 {
					t.Errorf("attempt %d came after %v, want %v +-20 %%", i+1, gaps[i], want)
				}
			}
		})
	}
	if events.DeliverAttempts != 10 || Kind.Name() != events.DeliverKind {
		t.Errorf("kind %s has %d attempts", Kind.Name(), events.DeliverAttempts)
	}
}

func TestAThousandEndpointsThatFailTogetherComeBackSpreadOut(t *testing.T) {
	t.Parallel()
	perSecond := map[time.Duration]int{}
	for range 1000 {
		perSecond[Backoff(2).Truncate(time.Second)]++
	}
	for second, n := range perSecond { // spread over 120 s: 8.3 each on average
		if n > 25 {
			t.Errorf("%d come back in second %v", n, second)
		}
	}
}

func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		status webhooks.Status
		class  string
		gone   bool
	}{
		200: {webhooks.Delivered, "", false},
		202: {webhooks.Delivered, "", false},
		204: {webhooks.Delivered, "", false},
		299: {webhooks.Delivered, "", false},
		301: {webhooks.Failed, "redirect", false},
		302: {webhooks.Failed, "redirect", false},
		304: {webhooks.Failed, "redirect", false},
		308: {webhooks.Failed, "redirect", false},
		400: {webhooks.Failed, "http_status", false},
		401: {webhooks.Failed, "http_status", false},
		404: {webhooks.Failed, "http_status", false},
		410: {webhooks.Discarded, "gone", true},
		429: {webhooks.Failed, "http_status", false},
		500: {webhooks.Failed, "http_status", false},
		503: {webhooks.Failed, "http_status", false},
	} {
		o := webhooks.Outcome{Answer: outbound.Answer{Status: code}}
		judgeResponse(&o, false, 1)
		type facts struct {
			Status       webhooks.Status
			Class        string
			Gone         bool
			Error, Retry bool
		}
		if diff := cmp.Diff(facts{want.status, want.class, want.gone, want.class != "", want.status == webhooks.Failed},
			facts{o.Status, o.Class, o.Gone, o.Error != "", !o.Next.IsZero()}); diff != "" {
			t.Errorf("%d (-want +got):\n%s", code, diff)
		}
	}
}

func TestRetryAfterIsHonouredUpToADay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for value, want := range map[string][2]time.Duration{
		"120":                           {2 * time.Minute, 144 * time.Second},
		"86400":                         {day, day * 6 / 5},
		"86401":                         {day, day * 6 / 5},
		"999999999999999999999999":      {day, day * 6 / 5},
		"Sat, 21 Nov 2026 11:00:00 GMT": {time.Hour, 72 * time.Minute},
		"Sat, 21 Nov 2026 09:00:00 GMT": {4 * time.Second, 6 * time.Second}, // in the past: use the plan
		"0":                             {4 * time.Second, 6 * time.Second},
		"-5":                            {4 * time.Second, 6 * time.Second},
		"NaN":                           {4 * time.Second, 6 * time.Second},
		"soon":                          {4 * time.Second, 6 * time.Second},
		"":                              {4 * time.Second, 6 * time.Second},
	} {
		for range 200 {
			h := http.Header{}
			if value != "" {
				h.Set("Retry-After", value)
			}
			if got := retryDelay(1, h, now); got < want[0] || got > want[1] {
				t.Errorf("%q: %v, want %v to %v", value, got, want[0], want[1])
				break
			}
		}
	}
}
