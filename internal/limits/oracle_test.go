package limits_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const (
	windowUS = 30_000_000
	start    = 1_800_000_000_000_000
)

// oracle is the rule as stated in doc.go, evaluated for every admitted moment.
type oracle struct {
	rule     limits.Rule
	admitted []int64
}

func (o *oracle) admits(t int64) bool {
	step := 60_000_000 / o.rule.PerMinute
	inWindow := int64(0)
	for i, a := range o.admitted {
		if a > t-windowUS {
			inWindow++
		}
		since := int64(len(o.admitted) - i) // members of A in [a, t]
		if (since+1-o.rule.Burst)*step > t-a {
			return false
		}
	}
	return inWindow < o.rule.Burst
}

// room returns how many more requests would be admitted at t.
func (o *oracle) room(t int64) int64 {
	more := oracle{o.rule, slices.Clone(o.admitted)}
	for more.admits(t) {
		more.admitted = append(more.admitted, t)
	}
	return int64(len(more.admitted) - len(o.admitted))
}

// patterns are request patterns: the pause before each request.
var patterns = []func(*rand.Rand) int64{
	func(r *rand.Rand) int64 { return r.Int64N(2_000) },     // a flood
	func(r *rand.Rand) int64 { return r.Int64N(200_000) },   // too fast
	func(r *rand.Rand) int64 { return r.Int64N(1_250_000) }, // about the rate
	func(r *rand.Rand) int64 { return int64(r.ExpFloat64() * 700_000) },
	func(r *rand.Rand) int64 {
		if r.IntN(200) == 0 {
			return r.Int64N(90_000_000)
		}
		return r.Int64N(20_000)
	}, // bursts with long pauses
	func(r *rand.Rand) int64 { return 600_000 * r.Int64N(2) }, // on the edges
}

func TestEveryDecisionIsTheRules(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) redis.UniversalClient{
		"redis": func(t testing.TB) redis.UniversalClient { return patient(t, testkit.RealRedis(t).URL) },
		"miniredis": func(t testing.TB) redis.UniversalClient {
			return patient(t, "redis://"+miniredis.RunT(t).Addr())
		},
		"process": func(testing.TB) redis.UniversalClient { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := int64(start)
			l := limits.New(limits.Options{Redis: open(t), Log: testkit.Log(t)})
			defer l.Close()
			l.Patient()
			l.At(func() int64 { return now })
			l.WithoutMemory()
			traces, admitted, refused := 24, 0, 0
			if testing.Short() { // with the race detector
				traces = 6
			}
			for trace := range traces {
				yes, no := follow(t, l, trace, &now)
				admitted, refused = admitted+yes, refused+no
			}
			t.Logf("%d steps: %d admitted, %d refused", admitted+refused, admitted, refused)
			if admitted+refused < 840*traces || admitted < 80*traces || refused < 80*traces {
				t.Errorf("%d traces: %d admitted, %d refused; want at least 80 of each per trace and 840 in all",
					traces, admitted, refused)
			}
		})
	}
}

// follow makes 850 requests and compares every decision with the oracle.
func follow(t *testing.T, l *limits.Limiter, trace int, now *int64) (admitted, refused int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(trace)))
	o := &oracle{rule: []limits.Rule{limits.Default, limits.PerMinute(7), limits.PerMinute(250)}[trace/6%3]}
	pause := patterns[trace%len(patterns)]
	subject := t.Name() + string(rune('a'+trace))
	for step := range 850 {
		*now += pause(r)
		want := o.admits(*now)
		d := l.Take(t.Context(), subject, o.rule)
		if d.Allowed != want {
			t.Fatalf("trace %d step %d: admitted %v, the rule says %v", trace, step, d.Allowed, want)
		}
		if !want {
			refused++
			free := *now + d.Grows.Microseconds()
			if o.admits(free-1) || !o.admits(free) {
				t.Fatalf("trace %d step %d: the wait of %v is not tight", trace, step, d.Grows)
			}
			continue
		}
		admitted++
		o.admitted = append(o.admitted, *now)
		if step%23 != 0 {
			continue
		}
		if room := o.room(*now); d.Remaining != room {
			t.Fatalf("trace %d step %d: remaining %d, the rule has room for %d", trace, step, d.Remaining, room)
		}
		if grows := *now + d.Grows.Microseconds(); o.room(grows) <= d.Remaining || o.room(grows-1) != d.Remaining {
			t.Fatalf("trace %d step %d: remaining does not grow after %v", trace, step, d.Grows)
		}
	}
	return admitted, refused
}

func client(t testing.TB, url string) redis.UniversalClient { return dial(t, url, redisx.Request) }

// patient returns a client for tests of decisions that tolerates a busy machine.
func patient(t testing.TB, url string) redis.UniversalClient { return dial(t, url, redisx.Worker) }

func dial(t testing.TB, url string, use redisx.Profile) redis.UniversalClient {
	t.Helper()
	c, err := redisx.Open(url, use)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAWellBehavedClientIsNeverRefused(t *testing.T) {
	t.Parallel()
	now := int64(start)
	l := limits.New(limits.Options{Log: testkit.Log(t)})
	defer l.Close()
	l.Patient()
	l.At(func() int64 { return now })
	for n := range uint64(20) {
		r := rand.New(rand.NewPCG(11, n))
		var sent []int64
		for len(sent) < 1200 {
			now += r.Int64N(1_200_000)
			if len(sent) >= 100 && sent[len(sent)-100] > now-60_000_000 {
				continue // would be the 101st of a minute
			}
			sent = append(sent, now)
			if !l.Take(t.Context(), string(rune('a'+n)), limits.Default).Allowed {
				t.Fatalf("client %d: request %d was refused", n, len(sent))
			}
		}
	}
}

func TestAClockThatGoesBackNeitherFreezesNorFrees(t *testing.T) {
	t.Parallel()
	now, local := int64(start), int64(start)
	l := limits.New(limits.Options{Redis: patient(t, testkit.Redis(t)), Log: testkit.Log(t)})
	defer l.Close()
	l.Patient()
	l.At(func() int64 { return local }) // which never goes back
	l.RedisAt(func() int64 { return now })
	l.WithoutMemory()
	take := func(n int) (admitted int) {
		for range n {
			if l.Take(t.Context(), "org", limits.Default).Allowed {
				admitted++
			}
		}
		return admitted
	}
	if got := take(300); got != 200 {
		t.Fatalf("a first burst admits %d, want 200", got)
	}
	now -= (500 * time.Millisecond).Microseconds()
	if got := take(300); got != 0 {
		t.Errorf("half a second back admits %d more", got)
	}
	now -= time.Hour.Microseconds()
	if got := take(300); got > 1 {
		t.Errorf("an hour back admits %d at once", got)
	}
	got := 0
	for range 600 {
		now += (100 * time.Millisecond).Microseconds()
		local += (100 * time.Millisecond).Microseconds()
		got += take(1)
	}
	if got < 50 || got > 101 {
		t.Errorf("the minute after admits %d, want about 100", got)
	}
}
