package limits_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// leases returns the Leases of a process.
func leases(t *testing.T, url string) *limits.Leases {
	t.Helper()
	client, err := redisx.Open(url, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return limits.NewLeases(client, testkit.Log(t))
}

func TestLeasesAreExactOverProcesses(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	both := []*limits.Leases{leases(t, url), leases(t, url)}
	for _, l := range both { // connections are made and the script is loaded
		release, _ := l.Acquire(t.Context(), "warm", 5)
		release()
	}
	for round := range 20 {
		var granted atomic.Int32
		var wg sync.WaitGroup
		releases := make(chan func(), 40)
		for i := range 40 {
			wg.Go(func() {
				release, ok := both[i%2].Acquire(t.Context(), "ada", 5)
				if ok {
					granted.Add(1)
				}
				releases <- release
			})
		}
		wg.Wait()
		if n := granted.Load(); n != 5 {
			t.Fatalf("round %d: %d leases, want 5", round, n)
		}
		for range 40 {
			(<-releases)()
		}
	}
}

func TestTheLeasesOfAKilledProcessExpire(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	killed, other := leases(t, url), leases(t, url)
	killed.Last(300 * time.Millisecond)
	killed.Die()
	if _, ok := killed.Acquire(t.Context(), "ada", 1); !ok {
		t.Fatal("no lease")
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		if release, ok := other.Acquire(t.Context(), "ada", 1); ok {
			release()
			return
		}
		if time.Now().After(end) {
			t.Fatal("the lease does not expire")
		}
	}
}

// Redis's clock was an hour ahead when a process took its leases and was killed, and was set back.
func TestLeasesOfAClockThatWasSetBackExpireAsOthers(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	client, err := redisx.Open(url, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	lease := redis.Z{Score: float64(time.Now().Add(time.Hour).UnixMicro()), Member: "a killed process's"}
	if err := client.ZAdd(t.Context(), "leases:{ada}", lease).Err(); err != nil {
		t.Fatal(err)
	}
	l := leases(t, url)
	l.Last(300 * time.Millisecond)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		if release, ok := l.Acquire(t.Context(), "ada", 1); ok {
			release()
			return
		}
		if time.Now().After(end) {
			t.Fatal("the lease does not expire")
		}
	}
}

func TestALeaseOutlivesItsTermByRenewal(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	one, other := leases(t, url), leases(t, url)
	one.Last(time.Second)
	release, ok := one.Acquire(t.Context(), "ada", 1)
	if !ok {
		t.Fatal("no lease")
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 20 { // two terms
		<-tick.C
		if _, ok := other.Acquire(t.Context(), "ada", 1); ok {
			t.Fatal("a lease that is held was given away")
		}
	}
	release()
	if _, ok := other.Acquire(t.Context(), "ada", 1); !ok {
		t.Error("a returned lease is still counted")
	}
}

func TestWithoutRedisEachProcessCountsItsOwnLeases(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	one, other := leases(t, server.URL), leases(t, server.URL)
	for _, l := range []*limits.Leases{one, other} {
		l.Last(time.Second)
	}
	server.Stop()
	for _, l := range []*limits.Leases{one, other} {
		if _, ok := l.Acquire(t.Context(), "ada", 1); !ok {
			t.Error("no lease without Redis")
		}
		if _, ok := l.Acquire(t.Context(), "ada", 1); ok {
			t.Error("a process gave more than its own share")
		}
	}
	server.Start()
	third := leases(t, server.URL)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		release, ok := third.Acquire(t.Context(), "ada", 2)
		if !ok {
			return // both leases have been renewed in Redis
		}
		release()
		if time.Now().After(end) {
			t.Fatal("Redis does not hear of the leases")
		}
	}
}
