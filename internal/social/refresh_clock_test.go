package social_test

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

var herd = flag.Int("herd", 300, "how many grants TestAHerdStaysWithinTheBudget has; 100000 are due within an hour")

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

// waiting is a claim's job and the time of its next run.
type waiting struct {
	claim social.Claim
	at    time.Time
}

// work advances the clock in steps until end, sweeps every ten seconds, and runs the jobs of claims as a worker does.
// It returns the times of the token requests.
func (s *shore) work(r *social.Refresher, until time.Time, step time.Duration) (requests []time.Time) {
	s.t.Helper()
	var jobs []waiting
	var swept time.Time
	for ; s.clock.Now().Before(until); s.clock.move(step) {
		now := s.clock.Now()
		if now.Sub(swept) >= 10*time.Second {
			swept = now
			for _, c := range s.sweep(r) {
				jobs = append(jobs, waiting{c, c.At})
			}
		}
		left := jobs[:0]
		for _, j := range jobs {
			if j.at.After(now) {
				left = append(left, j)
				continue
			}
			before := s.requestsMade
			_, err := r.Refresh(s.t.Context(), j.claim)
			var wait social.WaitError
			switch {
			case errors.As(err, &wait) && wait.For <= time.Minute:
				left = append(left, waiting{j.claim, now.Add(wait.For)})
			case err != nil && !errors.As(err, &wait):
				s.t.Fatal(err)
			}
			for range s.requestsMade - before {
				requests = append(requests, now)
			}
		}
		jobs = left
	}
	return requests
}

// counted makes the refresher count its requests.
func (s *shore) counted(r *social.Refresher) *social.Refresher {
	r.AtStep(func(step string) {
		if step == "before call" {
			s.requestsMade++
		}
	})
	return r
}

// peak returns the largest number of requests within any one second.
func peak(times []time.Time) (most int) {
	from := 0
	for i, at := range times {
		for !times[from].After(at.Add(-time.Second)) {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// TestAHerdStaysWithinTheBudget makes grants fall due at the rate of 100,000 per hour, with a budget of 30 requests per
// second, and then as many again at once: the provider never sees more than a tenth above the budget, and no grant of
// the first group expires.
func TestAHerdStaysWithinTheBudget(t *testing.T) {
	t.Parallel()
	const budget = 30
	s, n := newShore(t, newClock()), *herd
	if testing.Short() {
		n = min(n, 100)
	}
	span := time.Duration(float64(n) / 100_000 * float64(time.Hour))
	all := s.grants("herd", "x", n, span+15*time.Minute)
	s.set1("UPDATE social_grant SET refresh_at = $1::timestamptz + random() * $2::interval", s.clock.Now(), span)
	r, began := s.counted(s.refresher()), s.clock.Now()
	requests := s.work(r, began.Add(span+time.Minute), 50*time.Millisecond)
	var ended, alive, renewed, again int // again: after half a lifetime the first are due a second time
	if err := s.sql.QueryRow(t.Context(),
		`SELECT count(*) FILTER (WHERE status <> 'active'), count(*) FILTER (WHERE access_expires_at > $1),
			count(*) FILTER (WHERE issued_at >= $2), count(*) FILTER (WHERE issued_at >= $2::timestamptz +
			interval '1 hour') FROM social_grant`,
		s.clock.Now(), began).Scan(&ended, &alive, &renewed, &again); err != nil {
		t.Fatal(err)
	}
	if ended != 0 {
		t.Errorf("%d of %d grants ended, want none", ended, len(all))
	}
	if alive != len(all) || renewed != len(all) {
		t.Errorf("of %d grants %d are alive, %d renewed; want all", len(all), alive, renewed)
	}
	if p := peak(requests); len(requests) < len(all) || len(requests) > len(all)+again || p > budget*11/10 {
		t.Errorf("%d requests, %d within a second; want %d to %d, at most %d within a second", len(requests), p,
			len(all), len(all)+again, budget*11/10)
	}
	t.Logf("%d grants in %s: at most %d requests within a second", len(all), span, peak(requests))
	s.set1("UPDATE social_grant SET refresh_at = $1", s.clock.Now())
	requests = s.work(r, s.clock.Now().Add(time.Duration(len(all)/budget+30)*time.Second), 50*time.Millisecond)
	if p := peak(requests); len(requests) != len(all) || p > budget*11/10 {
		t.Errorf("all at once: %d requests for %d grants, %d within a second", len(requests), len(all), p)
	}
}

// TestAnOutageOfHalfAnHourDisconnectsNobody makes a provider return 503, cut connections and fail DNS in turn, while
// tokens fall due and some expire.
func TestAnOutageOfHalfAnHourDisconnectsNobody(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]oauth.Fault{
		"503": {Status: 503}, "502": {Status: 502, Body: "<html>"},
		"line cut": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShore(t, newClock())
			all := s.grants("herd", "x", 8, 20*time.Minute)
			s.set1("UPDATE social_grant SET refresh_at = $1::timestamptz + random() * interval '10 minutes'",
				s.clock.Now())
			r := s.counted(s.refresher())
			if err := s.box.Strike(t.Context(), fault); err != nil {
				t.Fatal(err)
			}
			s.work(r, s.clock.Now().Add(30*time.Minute), 5*time.Second)
			for _, g := range all {
				if row := s.stands(g); row.Status != "expiring" || row.Failures < 3 {
					t.Errorf("after the outage: %+v", row)
				}
			}
			if err := s.box.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.work(r, s.clock.Now().Add(10*time.Minute), 5*time.Second)
			for _, g := range all {
				if !s.alive(g) {
					t.Errorf("later: %+v", s.stands(g))
				}
			}
			if len(s.told) != 0 {
				t.Errorf("%d were told that they are disconnected", len(s.told))
			}
		})
	}
}

// TestWrongCredentialsDisconnectNobodyAndTellTheOperatorOnce makes the provider refuse our own secret for an hour.
func TestWrongCredentialsDisconnectNobodyAndTellTheOperatorOnce(t *testing.T) {
	t.Parallel()
	s := newShore(t, newClock())
	all := s.grants("herd", "x", 20, 2*time.Hour)
	wrong := s.counted(s.refresherOf(providers(s.places.Providers, s.clock.Now, "-wrong")))
	asked := s.work(wrong, s.clock.Now().Add(time.Hour), 5*time.Second)
	said := 0
	for _, line := range s.log.errors {
		if strings.Contains(line, "refuses our application") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("%d error logs about our application, want 1", said)
	}
	if len(asked) == 0 || len(asked) > 20+12 {
		t.Errorf("%d requests to the provider, want 1 to 32", len(asked))
	}
	if len(s.told) != 0 {
		t.Errorf("%d people were notified, want none", len(s.told))
	}
	s.work(s.counted(s.refresher()), s.clock.Now().Add(15*time.Minute), 5*time.Second)
	for _, g := range all {
		if !s.alive(g) {
			t.Errorf("%+v", s.stands(g))
		}
	}
}

// TestAThrottlingProviderIsLeftAloneForAsLongAsItSays throttles for ten minutes.
func TestAThrottlingProviderIsLeftAloneForAsLongAsItSays(t *testing.T) {
	t.Parallel()
	s := newShore(t, newClock())
	all := s.grants("herd", "x", 10, 2*time.Hour)
	if err := s.box.Strike(t.Context(), oauth.Fault{Status: 429, RetryAfter: 600, Times: 1}); err != nil {
		t.Fatal(err)
	}
	began := s.clock.Now()
	asked := s.work(s.counted(s.refresher()), began.Add(25*time.Minute), 5*time.Second)
	second := slices.IndexFunc(asked, func(at time.Time) bool { return at.After(asked[0]) })
	if len(asked) != len(all)+1 || second != 1 {
		t.Fatalf("%d requests, the second try is number %d; want %d and 1: %v", len(asked), second, len(all)+1, asked)
	}
	if wait := asked[1].Sub(asked[0]); wait < 10*time.Minute {
		t.Errorf("the second try is after %v, want at least 10 minutes", wait)
	}
	for _, g := range all {
		if !s.alive(g) || s.stands(g).Failures != 0 {
			t.Errorf("%+v", s.stands(g))
		}
	}
}

func TestADrawIsFreshEachTimeAndWithinItsBounds(t *testing.T) {
	t.Parallel()
	now, ends := newClock().Now(), newClock().Now().Add(60*24*time.Hour)
	for _, platform := range []string{"x", "instagram", "facebook"} {
		p, err := providers("http://test", time.Now, "").Get(platform)
		if err != nil {
			t.Fatal(err)
		}
		token := provider.Token{Access: "a", Refresh: "r", IssuedAt: now, ExpiresAt: &ends}
		seen := map[time.Time]bool{}
		for range 200 {
			at := social.DueAt(p, token)
			if share := at.Sub(now).Hours() / ends.Sub(now).Hours(); share < 0.5 || share > 0.85 {
				t.Fatalf("%s: due at %.3f of its life", platform, share)
			}
			seen[*at] = true
		}
		if len(seen) < 190 {
			t.Errorf("%s: %d different draws of 200", platform, len(seen))
		}
		short := now.Add(time.Hour)
		token.ExpiresAt = &short
		if at := social.DueAt(p, token); at.Sub(now) < p.MinAge {
			t.Errorf("%s: due %s after its issue, and may not be renewed before %s", platform, at.Sub(now), p.MinAge)
		}
	}
}
