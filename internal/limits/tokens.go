package limits

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed tokens.lua
var tokensSource string

// Tokens are buckets from which a request takes as much as it costs, refilled over a minute. They are apart from the requests'
// buckets: one that is empty empties no other. It is safe for concurrent use.
type Tokens struct {
	redis  redis.UniversalClient
	script *redis.Script
	log    *slog.Logger
	away   atomic.Bool // Redis did not answer the last call

	mu   sync.Mutex
	tats map[string]time.Time // of this process alone, while Redis is away
}

// NewTokens makes buckets in Redis; with nil they are the process's own.
func NewTokens(client redis.UniversalClient, log *slog.Logger) *Tokens {
	return &Tokens{redis: client, script: redis.NewScript(tokensSource), log: log, tats: map[string]time.Time{}}
}

// Draw is what a bucket answered.
type Draw struct {
	Allowed   bool
	Remaining int64         // tokens
	Wait      time.Duration // until the cost fits; 0 where it did
	Full      time.Duration // until the bucket is full
}

// ErrTooLarge says that a cost is above the bucket's size: no waiting helps.
var ErrTooLarge = errors.New("the cost is above the bucket's size")

// Take takes cost tokens from the subject's bucket of perMinute tokens, or none. It fails only with ErrTooLarge: without Redis the
// process decides alone, by a bucket that begins full.
func (t *Tokens) Take(ctx context.Context, subject string, perMinute, cost int64) (Draw, error) {
	if cost > perMinute {
		return Draw{}, ErrTooLarge
	}
	return t.move(ctx, subject, perMinute, cost), nil
}

// Return gives back what a request took and did not use.
func (t *Tokens) Return(ctx context.Context, subject string, perMinute, tokens int64) {
	if tokens > 0 {
		t.move(ctx, subject, perMinute, -tokens)
	}
}

func (t *Tokens) move(ctx context.Context, subject string, perMinute, cost int64) Draw {
	step := float64(minute.Microseconds()) / float64(perMinute)
	if t.redis != nil {
		asking, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		got, err := t.script.Run(asking, t.redis, []string{"ai:{" + subject + "}"}, step, perMinute, cost).Int64Slice()
		if err == nil && len(got) == 4 {
			if t.away.CompareAndSwap(true, false) {
				t.log.InfoContext(ctx, "token bucket restored")
			}
			return Draw{Allowed: got[0] == 1, Remaining: got[1], Wait: us(got[2]), Full: us(got[3])}
		}
		if ctx.Err() == nil && t.away.CompareAndSwap(false, true) { // once an outage, not once a call
			t.log.WarnContext(ctx, "token bucket degraded", "error", err, "answered", len(got))
		}
	}
	return t.alone(subject, perMinute, cost, time.Duration(step*float64(time.Microsecond)))
}

// alone is tokens.lua in Go.
func (t *Tokens) alone(subject string, perMinute, cost int64, step time.Duration) Draw {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for s, tat := range t.tats {
		if len(t.tats) > crowd && !tat.After(now) {
			delete(t.tats, s)
		}
	}
	tat := t.tats[subject]
	if tat.Before(now) {
		tat = now
	}
	size := time.Duration(perMinute) * step
	after := tat.Add(time.Duration(cost) * step)
	if wait := after.Sub(now.Add(size)); cost > 0 && wait > 0 {
		return Draw{Remaining: int64((size - tat.Sub(now)) / step), Wait: wait, Full: tat.Sub(now)}
	}
	if !after.After(now) {
		delete(t.tats, subject)
		return Draw{Allowed: true, Remaining: perMinute}
	}
	t.tats[subject] = after
	return Draw{Allowed: true, Remaining: int64((size - after.Sub(now)) / step), Full: after.Sub(now)}
}
