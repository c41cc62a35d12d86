package limits

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed limiter.lua
var source string

// How long one request waits for Redis, everything included.
const (
	patience     = 50 * time.Millisecond
	firstContact = 250 * time.Millisecond // until it has answered once: connections are made first
	longest      = time.Second
)

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
	calls   crew
	clock   func() time.Time
	at      func() (us int64, given bool) // a test's own time; production leaves it to Redis
}

// New makes a limiter without asking Redis anything. Close it.
func New(o Options) *Limiter {
	l := &Limiter{
		redis: o.Redis, script: redis.NewScript(source), metrics: o.Metrics, local: newLocal(), denied: newDenied(), clock: time.Now,
		at: func() (int64, bool) { return 0, false }, calls: crew{work: make(chan func()), stop: make(chan struct{})},
	}
	if c, ok := o.Redis.(*redis.Client); ok {
		l.redis = c.WithTimeout(longest) // ask keeps the time
	}
	l.breaker = newBreaker(o.Log, o.Metrics, func(ctx context.Context) error { return l.redis.Ping(ctx).Err() })
	return l
}

// Close waits for what still runs: a probe, and calls that were given up. The client stays open.
func (l *Limiter) Close() {
	l.breaker.close()
	l.calls.close()
}

// Take counts one request of the subject, an org's id or whatever names it, and answers whether it may pass.
// It never fails. A Redis that is away costs at most 50 ms, three times in a row, and then microseconds.
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

// ask lets Redis decide. It waits no longer than patience for a Redis that is silent, but as long as it takes,
// up to longest, while Redis answers others: then it is this process that is slow, and to decide without Redis
// what Redis has decided already would let one too many through.
func (l *Limiter) ask(ctx context.Context, subject string, r Rule) (Decision, error) {
	if l.redis == nil || l.breaker.isOpen() {
		return Decision{}, errOpen
	}
	args := []any{r.step(), r.Burst, window.Microseconds()}
	if us, given := l.at(); given {
		args = append(args, us)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	replies := make(chan reply, 1)
	l.calls.do(func() {
		defer cancel()
		got, err := l.call(ctx, []string{"rl:{" + subject + "}"}, args)
		replies <- reply{got, err}
	})
	asked := l.breaker.now()
	wait := patience
	if l.breaker.last.Load() == 0 {
		wait = firstContact
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case one := <-replies:
			if one.err != nil {
				l.breaker.failed(one.err)
				return Decision{}, one.err
			}
			got := one.values
			l.local.observe(subject, r, l.clock(), got[1])
			return Decision{Rule: r, Allowed: got[0] == 1, Remaining: got[1], Grows: us(got[3]), ByWindow: got[4] == 1}, nil
		case <-timer.C:
			late := l.breaker.now()-asked > wait+patience/10 // then this process sleeps, not Redis
			if ctx.Err() != nil || !late && !l.breaker.heard(patience) {
				l.breaker.failed(errSilent)
				return Decision{}, errSilent
			}
			asked, wait = l.breaker.now(), patience
			timer.Reset(wait)
		}
	}
}

var errSilent = errors.New("redis is silent")

type reply struct {
	values []int64
	err    error
}

// call runs the script once. What was surely never sent may be sent again while others get through.
func (l *Limiter) call(ctx context.Context, keys []string, args []any) ([]int64, error) {
	for {
		cmd := l.script.EvalSha(ctx, l.redis, keys, args...)
		if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			cmd = l.script.Eval(ctx, l.redis, keys, args...)
		}
		got, err := cmd.Int64Slice()
		switch {
		case err == nil && len(got) != 5:
			return nil, fmt.Errorf("limiter script answered %d values", len(got))
		case err == nil:
			l.breaker.succeeded()
			return got, nil
		case ctx.Err() != nil || !neverSent(err) || !l.breaker.heard(patience):
			return nil, err
		}
	}
}

// neverSent tells whether the command did not get as far as a connection, for want of time.
func neverSent(err error) bool {
	if errors.Is(err, redis.ErrPoolTimeout) {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && op.Timeout()
}
