package api_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// limitedBy gives the API its own limiter on the given Redis, like another process.
func limitedBy(t testing.TB, url string, reg prometheus.Registerer) func(*api.Deps) {
	t.Helper()
	client, err := redisx.Open(url, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	l := limits.New(limits.Options{Redis: client, Log: testkit.Log(t), Metrics: limits.NewMetrics(reg)})
	t.Cleanup(func() {
		l.Close()
		_ = client.Close()
	})
	return func(d *api.Deps) { d.Limits = l }
}

// twin serves the same org from a second instance with its own limiter.
func (c *caller) twin(t testing.TB, redis string, reg prometheus.Registerer) *caller {
	t.Helper()
	d := c.Deps
	limitedBy(t, redis, reg)(&d)
	second := *c.service
	second.Deps, second.App = d, api.NewWithThings(d)
	second.serve()
	return &caller{service: &second, Org: c.Org, User: c.User, Token: c.Token}
}

// alone counts the limiters' decisions made without Redis.
func alone(t testing.TB, reg prometheus.Gatherer) (n float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "funnelwork_limiter_decisions_total" && l.GetName() == "by" &&
					l.GetValue() == "process" {
					n += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

func TestAThousandRequestsToTwoInstancesGetExactlyTwoHundredThrough(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	first, second := prometheus.NewRegistry(), prometheus.NewRegistry()
	c := startThings(t, limitedBy(t, redis, first)).signup()
	for try := 1; ; try++ {
		both := []*caller{c, c.twin(t, redis, second)}
		before := alone(t, first) + alone(t, second)
		got := flood(both)
		if alone(t, first)+alone(t, second) > before && try < 5 {
			// The machine was too busy for Redis to respond in time, and a limiter without Redis may differ by its
			// remaining local share. Other tests cover that case.
			t.Log("redis did not answer in time: once more, with another org")
			c, second = c.signup(), prometheus.NewRegistry()
			continue
		}
		if passed := got[200] + got[404] + got[400]; passed != 200 || got[429] != 800 {
			t.Errorf("statuses %v: %d passed, want 200", got, passed)
		}
		break
	}
	c.signup().do("GET", things, nil).want(t, 200, "")
}

// flood sends 1,000 requests over 64 connections and counts the statuses.
func flood(to []*caller) map[int]int {
	got := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range 64 {
		wg.Go(func() {
			for i := n; i < 1000; i += 64 {
				a := to[n%len(to)].do("GET", things+[]string{"", "/x", "?nothing=1"}[i%3], nil)
				mu.Lock()
				got[a.Status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return got
}

func TestEveryLimitedAnswerSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	c := startThings(t).signup()
	remaining := int64(200)
	check := func(got answer) {
		t.Helper()
		policy, err := httpsfv.UnmarshalList(got.Header.Values("RateLimit-Policy"))
		if err != nil || len(policy) != 2 {
			t.Fatalf("RateLimit-Policy has %d items, want 2: %v", len(policy), err)
		}
		if text := got.Header.Get("RateLimit-Policy"); text != `"burst";q=200;w=30, "default";q=100;w=60` {
			t.Fatalf("RateLimit-Policy %q", text)
		}
		limit, err := httpsfv.UnmarshalList(got.Header.Values("RateLimit"))
		if err != nil || len(limit) != 1 {
			t.Fatalf("RateLimit %q: %v", got.Header.Values("RateLimit"), err)
		}
		item := limit[0].(httpsfv.Item)
		r, _ := item.Params.Get("r")
		if r.(int64) > remaining {
			t.Fatalf("%d requests remain after %d", r, remaining)
		}
		if left := got.Header.Get("X-RateLimit-Remaining"); left != fmt.Sprint(r) {
			t.Fatalf("X-RateLimit-Remaining %q, want %d", left, r)
		}
		if limit := got.Header.Get("X-RateLimit-Limit"); limit != "200" {
			t.Fatalf("X-RateLimit-Limit %q, want 200", limit)
		}
		remaining = r.(int64)
		reset, err := strconv.ParseInt(got.Header.Get("X-RateLimit-Reset"), 10, 64)
		if err != nil {
			t.Fatalf("X-RateLimit-Reset: %v", err)
		}
		if left := time.Until(time.Unix(reset, 0)); left < -time.Second || left > 32*time.Second {
			t.Fatalf("X-RateLimit-Reset %q is in %v", got.Header.Get("X-RateLimit-Reset"), left)
		}
	}
	check(c.do("GET", things, nil).want(t, 200, ""))
	check(c.do("GET", things+"/x", nil).want(t, 404, ""))
	check(c.do("GET", "/nowhere", nil).want(t, 404, "not_found"))
	check(c.do("PUT", things, nil).want(t, 405, ""))
	check(c.do("POST", things, "{").want(t, 400, ""))
	check(c.as(auth.Viewer).do("POST", things, map[string]any{"name": "a"}).want(t, 403, ""))
	check(c.key(auth.Viewer).do("GET", things, nil).want(t, 200, ""))
	if remaining != 193 {
		t.Errorf("after seven requests %d are left", remaining)
	}
	if got := c.stranger().do("GET", things, nil); got.Header.Get("RateLimit") != "" {
		t.Error("a request without a token is counted")
	}
	if got := c.do("POST", "/api/v1/test/open", map[string]any{"name": "a"}); got.Header.Get("RateLimit") != "" {
		t.Error("a public route is counted")
	}
	for _, path := range []string{"draft-email", "summarize-contact", "next-action", "classify-reply"} {
		if got := c.do("POST", "/api/v1/ai/"+path, map[string]any{}); got.Header.Get("RateLimit") != "" {
			t.Errorf("%s is counted", path)
		}
	}
	for left := remaining; left > 0; { // a request that Redis was slow to answer may count twice
		got := c.do("GET", things, nil).want(t, 200, "")
		var err error
		if left, err = strconv.ParseInt(got.Header.Get("X-RateLimit-Remaining"), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		got := c.do("GET", "/nowhere", nil).want(t, 429, "rate_limited")
		check(got)
		wait, err := strconv.Atoi(got.Header.Get("Retry-After"))
		if err != nil {
			t.Errorf("Retry-After: %v", err)
		}
		if wait < 1 || wait > 30 {
			t.Errorf("Retry-After %d, want 1 to 30", wait)
		}
		limit := got.Header.Get("RateLimit")
		if !strings.HasPrefix(limit, `"burst";r=0;`) || !strings.HasSuffix(limit, ";t="+strconv.Itoa(wait)) {
			t.Errorf("RateLimit %q, want no request left for %d seconds", limit, wait)
		}
	}
}

func TestARedisThatIsAwayNeverFailsARequest(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(*testkit.RedisServer){
		"stopped": (*testkit.RedisServer).Stop,
		"hung":    (*testkit.RedisServer).Hang,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testkit.RealRedis(t)
			c := startThings(t, limitedBy(t, server.URL, prometheus.NewRegistry())).signup()
			c.do("GET", things, nil).want(t, 200, "")
			away(server)
			if name == "hung" {
				defer server.Continue()
			}
			passed := 1 // the earlier request; the limiter continues from Redis' last reply
			var took []time.Duration
			for range 260 {
				began := time.Now()
				switch got := c.do("GET", things, nil); got.Status {
				case 200:
					passed++
				case 429:
				default:
					t.Fatalf("status %d", got.Status)
				}
				took = append(took, time.Since(began))
			}
			t.Logf("first three %v, then median %v", took[:3], slices.Sorted(slices.Values(took[3:]))[128])
			if passed != 200 {
				t.Errorf("%d passed, want 200", passed)
			}
		})
	}
}

func TestOnlyTrustedProxiesAreBelieved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trusted   []netip.Prefix
		forwarded func(n int) string
		refused   bool
	}{
		"nobody is trusted": {nil, func(n int) string {
			return fmt.Sprintf("10.0.%d.%d", n/250, n%250)
		}, true},
		"the peer is a proxy": {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, func(n int) string {
			return fmt.Sprintf("10.0.%d.%d", n/250, n%250)
		}, false},
		"the left is the caller's word": {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, func(n int) string {
			return fmt.Sprintf("10.0.%d.%d, 192.0.2.1", n/250, n%250)
		}, true},
		"two proxies in a row": {
			[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")},
			func(n int) string { return fmt.Sprintf("10.0.%d.%d, 192.0.2.1", n/250, n%250) }, false,
		},
		"one /64 is one caller": {
			[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, func(n int) string {
				return fmt.Sprintf("2001:db8::%x", n+1)
			}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startThings(t, func(d *api.Deps) { d.TrustedProxies = tc.trusted }).stranger()
			// The rate fills up while a busy machine sends: one caller goes on until it is refused.
			refused, sent := 0, 0
			for ; sent < 650 || tc.refused && refused == 0 && sent < 5000; sent++ {
				got := c.do("GET", "/docs/favicon-32x32.png", nil, "X-Forwarded-For", tc.forwarded(sent))
				if got.Status == 429 {
					got.want(t, 429, "rate_limited")
					refused++
				}
			}
			if (refused > 0) != tc.refused {
				t.Errorf("%d of %d refused", refused, sent)
			}
		})
	}
}

func TestAPlanRaisesTheRate(t *testing.T) {
	t.Parallel()
	c := startThings(t).signup()
	c.sql("UPDATE org SET rate_per_minute = 150 WHERE id = '" + c.Org.String() + "'")
	for _, one := range []*caller{c, c.key(auth.Viewer)} {
		got := one.do("GET", things, nil).want(t, 200, "")
		if got.Header.Get("X-RateLimit-Limit") != "300" ||
			got.Header.Get("RateLimit-Policy") != `"burst";q=300;w=30, "default";q=150;w=60` {
			t.Errorf("headers %v", got.Header)
		}
	}
}
