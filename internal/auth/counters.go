package auth

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/bounded"
)

// counters keeps counts and holds under keys that expire.
type counters interface {
	// add adds by to the count of key, lets the count expire life from now, and returns it.
	add(ctx context.Context, key string, by int64, life time.Duration) (int64, error)
	// hold takes key for life and reports whether key was free.
	hold(ctx context.Context, key string, life time.Duration) (bool, error)
	// left returns the time until key expires; 0 if there is no such key.
	left(ctx context.Context, key string) (time.Duration, error)
	drop(ctx context.Context, keys ...string) error
}

// newCounters returns counters in Redis that all processes share, with a fallback to counters of this process while
// Redis is unavailable. Admitting too many requests (by the number of processes) is better than no throttle, and better
// than no logins.
func newCounters(r redis.UniversalClient, log *slog.Logger) counters {
	local := &localCounters{}
	if r == nil {
		return local
	}
	return &failover{first: redisCounters{r}, second: local, log: log}
}

// redisCounters keeps the counters in Redis. It needs no script: INCRBY and EXPIRE are sent in one MULTI.
type redisCounters struct{ r redis.UniversalClient }

func (c redisCounters) add(ctx context.Context, key string, by int64, life time.Duration) (int64, error) {
	pipe := c.r.TxPipeline()
	n := pipe.IncrBy(ctx, key, by)
	pipe.PExpire(ctx, key, life)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, err
	}
	return n.Val(), nil
}

func (c redisCounters) hold(ctx context.Context, key string, life time.Duration) (bool, error) {
	err := c.r.SetArgs(ctx, key, 1, redis.SetArgs{Mode: "NX", TTL: life}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func (c redisCounters) left(ctx context.Context, key string) (time.Duration, error) {
	d, err := c.r.PTTL(ctx, key).Result()
	return max(d, 0), err // -2: no key; -1: no expiry, which we never set
}

func (c redisCounters) drop(ctx context.Context, keys ...string) error {
	for _, k := range keys { // one by one: in a cluster they are in different slots
		if err := c.r.Del(ctx, k).Err(); err != nil {
			return err
		}
	}
	return nil
}

// localCounters keeps the counters in memory, for a bounded number of recently used keys.
type localCounters struct {
	mu sync.Mutex
	m  bounded.Map[string, *count]
}

type count struct {
	n    int64
	ends time.Time
}

// countOf returns the live count of key. The caller must hold mu.
func (c *localCounters) countOf(key string, now time.Time) *count {
	if c.m.Half == 0 {
		c.m.Half = 1 << 15
	}

	n := c.m.GetOr(key, func() *count { return new(count) })
	if !now.Before(n.ends) {
		*n = count{}
	}

	return n
}

func (c *localCounters) add(_ context.Context, key string, by int64, life time.Duration) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	n := c.countOf(key, now)
	n.n, n.ends = n.n+by, now.Add(life)
	return n.n, nil
}

func (c *localCounters) hold(_ context.Context, key string, life time.Duration) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	now := time.Now()
	n := c.countOf(key, now)
	if !n.ends.IsZero() {
		return false, nil
	}

	n.n, n.ends = 1, now.Add(life)
	return true, nil
}

func (c *localCounters) left(_ context.Context, key string) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if n := c.countOf(key, now); !n.ends.IsZero() {
		return n.ends.Sub(now), nil
	}
	return 0, nil
}

func (c *localCounters) drop(_ context.Context, keys ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		c.m.Drop(k)
	}
	return nil
}

// mixed is how long after an outage this process's counts still apply: as long as the longest of them lives.
const mixed = time.Hour

// failover uses first, and only second for one second after each error of first. Counts made during an outage are kept:
// for an hour afterwards both are used and the stricter one decides. Its methods never return an error.
type failover struct {
	first, second counters
	log           *slog.Logger
	mu            sync.Mutex
	until, both   time.Time
}

// callInUse calls do for the counters in use. The result for counters that are not in use is zero.
func callInUse[T any](ctx context.Context, f *failover, do func(counters) (T, error)) (first, second T, ok bool) {
	f.mu.Lock()
	now := time.Now()
	open := now.Before(f.until)
	both := now.Before(f.both)
	f.mu.Unlock()
	if !open {
		var err error
		if first, err = do(f.first); err == nil {
			ok = true
		} else {
			f.mu.Lock()
			now = time.Now()
			f.until, f.both = now.Add(time.Second), now.Add(mixed)
			f.mu.Unlock()
			f.log.DebugContext(ctx, "redis unavailable, login throttle uses in-process counters", "error", err)
		}
	}
	if !ok || both {
		second, _ = do(f.second) // never fails
	}

	return first, second, ok
}

func (f *failover) add(ctx context.Context, key string, by int64, life time.Duration) (int64, error) {
	a, b, _ := callInUse(ctx, f, func(c counters) (int64, error) { return c.add(ctx, key, by, life) })
	return max(a, b), nil
}

func (f *failover) hold(ctx context.Context, key string, life time.Duration) (bool, error) {
	if wait, _ := f.left(ctx, key); wait > 0 {
		return false, nil
	}
	a, b, ok := callInUse(ctx, f, func(c counters) (bool, error) { return c.hold(ctx, key, life) })
	return ok && a || !ok && b, nil
}

func (f *failover) left(ctx context.Context, key string) (time.Duration, error) {
	a, b, _ := callInUse(ctx, f, func(c counters) (time.Duration, error) { return c.left(ctx, key) })
	return max(a, b), nil
}

func (f *failover) drop(ctx context.Context, keys ...string) error {
	_, _, _ = callInUse(ctx, f, func(c counters) (struct{}, error) { return struct{}{}, c.drop(ctx, keys...) })
	return nil
}
