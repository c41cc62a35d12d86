package limits

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed limiter.lua
var source string

// patience is the longest that one request waits for Redis, everything included.
const patience = 50 * time.Millisecond

// Options of a Limiter.
type Options struct {
	// Redis is asked for every decision, with a client that neither retries nor waits: a command sent twice
	// counts twice. Nil: the process decides alone.
	Redis redis.UniversalClient
	Log   *slog.Logger
	// Metrics may be nil.
	Metrics *Metrics
}

// Limiter decides for all subjects. It is safe for concurrent use.
type Limiter struct {
	redis   redis.UniversalClient
	script  *redis.Script
	metrics *Metrics
	breaker *breaker
	local   *local
	denied  *denied
	clock   func() time.Time
	at      func() (us int64, given bool) // a test's own time; production leaves it to Redis
}

// New makes a limiter without asking Redis anything. Close it.
func New(o Options) *Limiter {
	l := &Limiter{
		redis: o.Redis, script: redis.NewScript(source), metrics: o.Metrics, local: newLocal(), denied: newDenied(), clock: time.Now,
		at: func() (int64, bool) { return 0, false },
	}
	l.breaker = newBreaker(o.Log, o.Metrics, func(ctx context.Context) error { return l.redis.Ping(ctx).Err() })
	return l
}

// Close ends the probe, if one runs, and waits for it. The client stays open.
func (l *Limiter) Close() { l.breaker.close() }

// Take counts one request of the subject, an org's id or whatever names it, and answers whether it may pass.
// It never fails and takes at most 50 ms, three times in a row; with Redis away it then takes microseconds.
func (l *Limiter) Take(ctx context.Context, subject string, r Rule) Decision {
	began := l.clock()
	if d, ok := l.denied.get(subject, r, began); ok {
		l.metrics.decided(d, true)
		return d
	}
	d, err := l.ask(ctx, subject, r)
	if err != nil {
		d = l.local.take(subject, r, began)
		d.Degraded = true
	}
	if !d.Allowed {
		l.denied.put(subject, r, began, d)
	}
	l.metrics.decided(d, false)
	l.metrics.took(l.clock().Sub(began))
	return d
}

var errOpen = errors.New("the breaker is open")

// ask lets Redis decide.
func (l *Limiter) ask(ctx context.Context, subject string, r Rule) (Decision, error) {
	if l.redis == nil || l.breaker.isOpen() {
		return Decision{}, errOpen
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	keys := []string{"rl:{" + subject + "}"}
	args := []any{r.step(), r.Burst, window.Microseconds()}
	if us, given := l.at(); given {
		args = append(args, us)
	}
	cmd := l.script.EvalSha(ctx, l.redis, keys, args...)
	if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		cmd = l.script.Eval(ctx, l.redis, keys, args...)
	}
	got, err := cmd.Int64Slice()
	if err == nil && len(got) != 5 {
		err = fmt.Errorf("limiter script answered %d values", len(got))
	}
	if err != nil {
		l.breaker.failed(err)
		return Decision{}, err
	}
	l.breaker.succeeded()
	d := Decision{Rule: r, Allowed: got[0] == 1, Remaining: got[1], Grows: time.Duration(got[3]) * time.Microsecond, ByWindow: got[4] == 1}
	return d, nil
}
