package limits_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func bucket(t *testing.T, url string) *limits.Tokens {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return limits.NewTokens(client, slog.New(slog.DiscardHandler))
}

func TestABucketOfTokensGivesWhatItHoldsAndTakesBackWhatWasNotUsed(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string]*limits.Tokens{
		"redis": bucket(t, testkit.Redis(t)),
		"alone": limits.NewTokens(nil, slog.New(slog.DiscardHandler)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const size = 6_000_000 // 100,000 a second
			take := func(subject string, cost int64) limits.Draw {
				d, err := tokens.Take(t.Context(), subject, size, cost)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			if d := take("a", size); !d.Allowed || d.Remaining > size/100 {
				t.Errorf("all of it: %+v", d)
			}
			if d := take("a", size/2); d.Allowed || d.Wait < 20*time.Second || d.Wait > 31*time.Second {
				t.Errorf("half of it at once: allowed %v, wait %v; want a refusal for 20 to 31 s", d.Allowed, d.Wait)
			}
			if d := take("b", size); !d.Allowed {
				t.Errorf("another's bucket: %+v", d)
			}
			tokens.Return(t.Context(), "a", size, size/2)
			if d := take("a", size/2); !d.Allowed {
				t.Errorf("after half came back: %+v", d)
			}
			tokens.Return(t.Context(), "a", size, 9*size)
			if d := take("a", size); !d.Allowed || d.Full > 61*time.Second {
				t.Errorf("more than a bucket came back: %+v", d)
			}
			if _, err := tokens.Take(t.Context(), "a", size, size+1); !errors.Is(err, limits.ErrTooLarge) {
				t.Errorf("more than a bucket holds: %v", err)
			}
		})
	}
}

func TestABucketFillsOverAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens := limits.NewTokens(nil, slog.New(slog.DiscardHandler))
		take := func(cost int64) limits.Draw {
			d, err := tokens.Take(t.Context(), "a", 600, cost)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		take(600)
		if d := take(100); d.Allowed || d.Wait != 10*time.Second {
			t.Errorf("at once: %+v", d)
		}
		<-time.After(10 * time.Second)
		if d := take(100); !d.Allowed || d.Remaining != 0 {
			t.Errorf("after ten seconds: %+v", d)
		}
		<-time.After(time.Minute)
		if d := take(600); !d.Allowed {
			t.Errorf("after a minute: %+v", d)
		}
	})
}

func TestABucketIsTheSameForAllProcesses(t *testing.T) {
	t.Parallel()
	url := testkit.Redis(t)
	one, two := bucket(t, url), bucket(t, url)
	var (
		got atomic.Int64
		all sync.WaitGroup
	)
	for i := range 200 {
		all.Go(func() {
			tokens := one
			if i%2 == 0 {
				tokens = two
			}
			if d, err := tokens.Take(t.Context(), "a", 1000, 20); err == nil && d.Allowed {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if n := got.Load(); n < 50 || n > 52 { // refilled in a second or two
		t.Errorf("%d of 200 found room for 50", n)
	}
}

func TestWithoutRedisABucketStillCounts(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	var said bytes.Buffer
	tokens := limits.NewTokens(client, slog.New(slog.NewTextHandler(&said, nil)))
	if d, err := tokens.Take(context.Background(), "a", 100, 100); err != nil || !d.Allowed {
		t.Errorf("the first: %+v %v", d, err)
	}
	if d, err := tokens.Take(context.Background(), "a", 100, 100); err != nil || d.Allowed {
		t.Errorf("the second: %+v %v", d, err)
	}
	if n := strings.Count(said.String(), "\n"); n != 1 {
		t.Errorf("an outage takes %d lines of the log: %s", n, said.String())
	}
}

func TestWhatABucketGaveWithoutRedisIsTakenFromTheBucketOfAll(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	var said bytes.Buffer
	one := limits.NewTokens(client(t, server.URL), slog.New(slog.NewTextHandler(&said, nil)))
	two := limits.NewTokens(patient(t, server.URL), slog.New(slog.DiscardHandler))
	take := func(from *limits.Tokens, cost int64) bool {
		d, err := from.Take(t.Context(), "a", 1000, cost)
		if err != nil {
			t.Fatal(err)
		}
		return d.Allowed
	}
	began := time.Now()
	if !take(one, 300) {
		t.Fatal("300 of 1000 are refused")
	}
	server.Stop()
	if !take(one, 600) {
		t.Error("600 of the 700 that are left are refused while Redis is away")
	}
	if take(one, 400) {
		t.Error("400 of the 100 that are left are given while Redis is away")
	}
	server.Start()
	for !strings.Contains(said.String(), "restored") {
		take(one, 1)
	}
	inTime := func() bool { return time.Since(began) < 20*time.Second } // a third of the bucket is refilled by then
	if take(two, 650) && inTime() {
		t.Error("another process is given 650 of what the first has taken")
	}
	if err := client(t, server.URL).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if take(one, 650) && inTime() {
		t.Error("a Redis that lost its memory gives a second bucket")
	}
}
