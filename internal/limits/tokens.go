package limits

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed tokens.lua
var tokensSource string

// Tokens are token buckets: a request takes its cost in tokens, and a bucket is refilled over a minute. They are
// separate from the buckets of requests, and from each other. Tokens is safe for concurrent use.
type Tokens struct {
	redis  redis.UniversalClient
	script *redis.Script
	log    *slog.Logger
	away   atomic.Bool // the last call to Redis failed

	mu    sync.Mutex
	spent map[string]*spending
}

// spending is what this process took from one subject's bucket, as the times at which the bucket would be full again.
type spending struct {
	own       time.Time // everything taken
	uncharged time.Time // the part that Redis may not have counted
}

// NewTokens returns buckets in Redis. With a nil client they are in the process.
func NewTokens(client redis.UniversalClient, log *slog.Logger) *Tokens {
	return &Tokens{redis: client, script: redis.NewScript(tokensSource), log: log, spent: map[string]*spending{}}
}

// Draw is the result of taking tokens.
type Draw struct {
	Allowed   bool
	Remaining int64         // tokens
	Wait      time.Duration // until the cost fits; 0 if it did
	Full      time.Duration // until the bucket is full
}

// ErrTooLarge means that a cost exceeds the bucket's size, so waiting does not help.
var ErrTooLarge = errors.New("the cost exceeds the bucket's size")

// Take takes cost tokens from the subject's bucket of perMinute tokens, or none. It fails only with ErrTooLarge:
// without Redis the process decides alone, and its next call for the subject charges what was taken. The process's own
// draws always count, so a Redis that was unavailable or lost its data does not grant a second bucket.
func (t *Tokens) Take(ctx context.Context, subject string, perMinute, cost int64) (Draw, error) {
	if cost > perMinute {
		return Draw{}, ErrTooLarge
	}
	return t.move(ctx, subject, perMinute, cost), nil
}

// Return returns tokens that a request took and did not use.
func (t *Tokens) Return(ctx context.Context, subject string, perMinute, tokens int64) {
	if tokens > 0 {
		t.move(ctx, subject, perMinute, -tokens)
	}
}

func (t *Tokens) move(ctx context.Context, subject string, perMinute, cost int64) Draw {
	step := minute / time.Duration(perMinute)
	b := bucket{size: step * time.Duration(perMinute), step: step, cost: cost}
	if t.redis != nil {
		if d, ok := t.ask(ctx, subject, perMinute, b); ok {
			return d
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, now := t.of(subject), time.Now()
	d := b.take(&s.own, now)
	if d.Allowed && cost > 0 && t.redis != nil {
		s.uncharged = later(s.uncharged, now).Add(b.takes())
	}
	return d
}

// ask applies the move in Redis, and reports whether Redis replied.
func (t *Tokens) ask(ctx context.Context, subject string, perMinute int64, b bucket) (Draw, bool) {
	t.mu.Lock()
	s, sent := t.of(subject), time.Now()
	own := s.own
	if d := b.take(&own, sent); !d.Allowed {
		t.mu.Unlock()
		return d, true // Redis has all of this to count, and more
	}
	used := max(0, s.uncharged.Sub(sent))
	s.uncharged = time.Time{}
	t.mu.Unlock()

	step := float64(minute.Microseconds()) / float64(perMinute)
	args := []any{step, perMinute, b.cost}
	if used > 0 {
		args = append(args, "", used.Microseconds()+1)
	}
	asking, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	got, err := t.script.Run(asking, t.redis, []string{"ai:{" + subject + "}"}, args...).Int64Slice()
	answered := err == nil && len(got) == 4
	t.report(ctx, answered, err)

	t.mu.Lock()
	defer t.mu.Unlock()
	s = t.of(subject)
	if !answered {
		if used > 0 { // it may be counted twice, but never not at all
			s.uncharged = later(s.uncharged, sent).Add(used)
		}
		return Draw{}, false
	}
	d := Draw{Allowed: got[0] == 1, Remaining: got[1], Wait: us(got[2]), Full: us(got[3])}
	if !d.Allowed {
		return d, true
	}
	if own := b.take(&s.own, sent); !own.Allowed {
		return own, true
	}
	return d, true
}

// report logs the begin and the end of an outage, not each failed call.
func (t *Tokens) report(ctx context.Context, answered bool, err error) {
	switch {
	case answered && t.away.CompareAndSwap(true, false):
		t.log.InfoContext(ctx, "token bucket restored")
	case !answered && ctx.Err() == nil && t.away.CompareAndSwap(false, true):
		t.log.WarnContext(ctx, "token bucket degraded", "error", err)
	}
}

// of returns the subject's spending. The caller must hold mu.
func (t *Tokens) of(subject string) *spending {
	s := t.spent[subject]
	if s == nil {
		if now := time.Now(); len(t.spent) >= crowd {
			maps.DeleteFunc(t.spent, func(_ string, s *spending) bool {
				return !s.own.After(now) && !s.uncharged.After(now)
			})
		}
		s = &spending{}
		t.spent[subject] = s
	}
	return s
}

// bucket is one move of a bucket: tokens.lua in Go.
type bucket struct {
	size, step time.Duration
	cost       int64
}

func (b bucket) takes() time.Duration { return time.Duration(b.cost) * b.step }

// take advances tat, the time at which the bucket is full again, if the cost fits.
func (b bucket) take(tat *time.Time, now time.Time) Draw {
	from := later(*tat, now)
	after := from.Add(b.takes())
	if wait := after.Sub(now.Add(b.size)); b.cost > 0 && wait > 0 {
		return Draw{Remaining: int64((b.size - from.Sub(now)) / b.step), Wait: wait, Full: from.Sub(now)}
	}
	if !after.After(now) {
		*tat = time.Time{}
		return Draw{Allowed: true, Remaining: int64(b.size / b.step)}
	}
	*tat = after
	return Draw{Allowed: true, Remaining: int64((b.size - after.Sub(now)) / b.step), Full: after.Sub(now)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
