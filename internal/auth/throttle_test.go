package auth_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// stores runs a test with both kinds of counters.
func stores(t *testing.T, run func(*testing.T, *auth.Service)) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		run(t, auth.New(auth.Options{}))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		r, err := redisx.Open(testkit.Redis(t), redisx.Worker) // tolerates a busy machine
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		run(t, auth.New(auth.Options{Redis: r}))
	})
}

func wrong(t *testing.T, s *auth.Service, account, ip string) *fault.Fault {
	t.Helper()
	err := s.Try(t.Context(), account, from(ip), false)
	f := fault.Of(err)
	if err != nil && (f == nil || f.Code != fault.RateLimited) {
		t.Fatalf("%v, want %s", err, fault.RateLimited)
	}
	if err != nil && f.RetryAfter <= 0 {
		t.Fatalf("%v: retry after %v, want a positive time", err, f.RetryAfter)
	}
	return f
}

func TestAnAccountIsHeldAfterFiveFailuresWhereverTheyComeFrom(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s *auth.Service) {
		for i := range 5 {
			if f := wrong(t, s, "ada@example.com", fmt.Sprintf("10.0.%d.1", i)); f != nil {
				t.Fatalf("failure %d: %v", i+1, f)
			}
		}
		f := wrong(t, s, "ADA@example.com", "10.1.0.1")
		if f == nil || f.RetryAfter > time.Second {
			t.Fatalf("the sixth try: %v", f)
		}
		if f := wrong(t, s, "bob@example.com", "10.0.0.1"); f != nil {
			t.Errorf("another account: %v", f)
		}
	})
}

func TestTriesAtOnceAreCountedOneByOne(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s *auth.Service) {
		var (
			wg       sync.WaitGroup
			admitted atomic.Int64
		)
		for range 200 {
			wg.Go(func() {
				if s.Try(t.Context(), "ada@example.com", from("10.0.0.1"), false) == nil {
					admitted.Add(1)
				}
			})
		}
		wg.Wait()
		if n := admitted.Load(); n < 5 || n > 6 { // six on a machine that takes a second
			t.Errorf("%d wrong tries admitted, want 5", n)
		}
	})
}

func TestManyRightLoginsAtOnceAllSucceed(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s *auth.Service) {
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				if err := s.Try(t.Context(), "ada@example.com", from("10.0.0.1"), true); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestARightLoginForgivesTheFailuresBeforeIt(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s *auth.Service) {
		for range 4 {
			_ = wrong(t, s, "ada@example.com", "10.0.0.1")
		}
		if err := s.Try(t.Context(), "ada@example.com", from("10.0.0.1"), true); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if f := wrong(t, s, "ada@example.com", "10.0.0.1"); f != nil {
				t.Errorf("failure %d afterwards: %v", i+1, f)
			}
		}
	})
}

func TestAnAccountTakesAtMostAHundredGuessesAnHourAndIsNeverLockedForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := auth.New(auth.Options{})
		guesses := 0
		longest := time.Duration(0)
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
			// A new address each time, without any wasted second.
			ip := fmt.Sprintf("10.%d.%d.1", guesses/250, guesses%250)
			f := wrong(t, s, "ada@example.com", ip)
			if f == nil {
				guesses++
				continue
			}
			longest = max(longest, f.RetryAfter)
			<-time.After(f.RetryAfter)
		}
		if guesses > 100 || guesses < 10 {
			t.Errorf("%d guesses in an hour, want at most 100", guesses)
		}
		if longest > 5*time.Minute {
			t.Errorf("held for %v, want at most 5 minutes", longest)
		}
	})
}

func TestAStrangerWhoGuessesDoesNotShutTheOwnerOut(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s *auth.Service) {
		const home = "198.51.100.7"
		if err := s.Try(t.Context(), "ada@example.com", from(home), true); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			_ = wrong(t, s, "ada@example.com", "203.0.113.1")
		}
		if f := wrong(t, s, "ada@example.com", "203.0.113.1"); f == nil {
			t.Fatal("the stranger is not held")
		}
		if err := s.Try(t.Context(), "ada@example.com", from("198.51.100.99"), true); err != nil {
			t.Errorf("the owner, from the block that they logged in from before: %v", err)
		}
	})
}

func TestAnAddressBlockIsHeldAfterAHundredFailures(t *testing.T) {
	t.Parallel()
	for name, ips := range map[string][3]string{
		"IPv4 /24": {"10.0.0.%d", "10.0.0.250", "10.0.1.1"},
		"IPv6 /64": {"2001:db8::%d", "2001:db8::ffff", "2001:db8:0:1::1"},
		"mapped":   {"::ffff:10.0.0.%d", "10.0.0.250", "::ffff:10.0.1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := auth.New(auth.Options{})
				for i := range 100 {
					if f := wrong(t, s, fmt.Sprintf("user%d@example.com", i), fmt.Sprintf(ips[0], i)); f != nil {
						t.Fatalf("failure %d: %v", i+1, f)
					}
				}
				if f := wrong(t, s, "fresh@example.com", ips[1]); f == nil {
					t.Error("the block is not held")
				}
				if f := wrong(t, s, "fresh@example.com", ips[2]); f != nil {
					t.Errorf("a neighbour is held: %v", f)
				}
				<-time.After(15 * time.Minute)
				if f := wrong(t, s, "fresh@example.com", ips[1]); f != nil {
					t.Errorf("after the window: %v", f)
				}
			})
		})
	}
}

func TestWithoutRedisTheThrottleGoesOnInTheProcess(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	r, err := redisx.Open(server.URL, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	for name, fail := range map[string][2]func(){
		"stopped": {server.Stop, server.Start},
		"hung":    {server.Hang, server.Continue},
	} {
		s := auth.New(auth.Options{Redis: r})
		account := name + "@example.com"
		_ = wrong(t, s, account, "10.0.0.1")
		fail[0]()
		held := false
		for range 7 {
			began := time.Now()
			held = wrong(t, s, account, "10.0.0.1") != nil || held
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%s: a try took %v", name, took)
			}
		}
		if !held {
			t.Errorf("%s: nobody is held", name)
		}
		fail[1]()
	}
}

func TestFailuresInAnOutageOfRedisStillCountAfterIt(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	r, err := redisx.Open(server.URL, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	s := auth.New(auth.Options{Redis: r})
	server.Stop()
	for i := range 5 {
		if f := wrong(t, s, "ada@example.com", "10.0.0.1"); f != nil {
			t.Fatalf("failure %d: %v", i+1, f)
		}
	}
	server.Start()
	<-time.After(1500 * time.Millisecond) // the first hold, and the pause before Redis is used again
	for range 4 {
		if wrong(t, s, "ada@example.com", "10.0.0.1") != nil {
			return
		}
	}
	t.Error("four more failures at once, after five in the outage, and nobody is held")
}

func TestALimitPerAddressRefusesBeyondItAndSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := auth.New(auth.Options{})
		l := auth.Limit{Name: "x", Max: 3, Window: time.Minute}
		for range 3 {
			if err := s.Allow(t.Context(), l, from("10.0.0.1")); err != nil {
				t.Fatal(err)
			}
		}
		f := fault.Of(s.Allow(t.Context(), l, from("10.0.0.2")))
		if f == nil || f.Code != fault.RateLimited {
			t.Fatalf("%v; want rate_limited", f)
		}
		<-time.After(f.RetryAfter)
		if err := s.Allow(t.Context(), l, from("10.0.0.1")); err != nil {
			t.Errorf("after Retry-After: %v", err)
		}
		free := auth.New(auth.Options{Unlimited: true})
		for range 10 {
			if err := free.Allow(t.Context(), l, from("10.0.0.1")); err != nil {
				t.Error(err)
			}
		}
	})
}
