package limits

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
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
	metrics *Metrics
	breaker *breaker
	ferry   *ferry // nil where the process decides alone
	local   *local
	denied  *denied
	clock   func() time.Time
	at      func() (us int64, given bool) // a test's own time; production leaves it to Redis
}

// New makes a limiter without asking Redis anything. Close it.
func New(o Options) *Limiter {
	l := &Limiter{
		metrics: o.Metrics, local: newLocal(), denied: newDenied(), clock: time.Now, at: func() (int64, bool) { return 0, false },
	}
	client := o.Redis
	if c, ok := client.(*redis.Client); ok {
		client = c.WithTimeout(longest) // ask keeps the time
	}
	l.breaker = newBreaker(o.Log, o.Metrics, func(ctx context.Context) error { return client.Ping(ctx).Err() })
	if client != nil {
		l.ferry = newFerry(client, l.breaker)
	}
	return l
}

// Close waits for what still runs: a probe, and calls that were given up. The client stays open, and nothing
// may be taken any more.
func (l *Limiter) Close() {
	l.breaker.close()
	if l.ferry != nil {
		l.ferry.close()
	}
}

// Take counts one request of the subject, an org's id or whatever names it, and answers whether it may pass.
// It never fails. A Redis that is away costs at most 50 ms, three times in a row, and then microseconds.
func (l *Limiter) Take(_ context.Context, subject string, r Rule) Decision {
	began := l.clock()
	if d, ok := l.denied.get(subject, r, began); ok {
		l.metrics.decided(d, true)
		return d
	}
	d, err := l.ask(subject, r)
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
func (l *Limiter) ask(subject string, r Rule) (Decision, error) {
	if l.ferry == nil || l.breaker.isOpen() {
		return Decision{}, errOpen
	}
	args := []any{r.step(), r.Burst, window.Microseconds()}
	if us, given := l.at(); given {
		args = append(args, us)
	}
	c := &call{key: "rl:{" + subject + "}", args: args, reply: make(chan reply, 1)}
	if !l.ferry.board(c) {
		return Decision{}, errFull
	}
	began := l.breaker.now()
	asked := began
	wait := patience
	if l.breaker.last.Load() == 0 {
		wait = firstContact
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case one := <-c.reply:
			if one.err != nil {
				l.breaker.failed(one.err)
				return Decision{}, one.err
			}
			got := one.values
			l.local.observe(subject, r, l.clock(), got[1])
			return Decision{Rule: r, Allowed: got[0] == 1, Remaining: got[1], Grows: us(got[3]), ByWindow: got[4] == 1}, nil
		case <-timer.C:
			late := l.breaker.now()-asked > wait+patience/10 // then this process sleeps, not Redis
			if l.breaker.now()-began > longest || !late && !l.breaker.heard(patience) {
				c.left.Store(true)
				l.breaker.failed(errSilent)
				return Decision{}, errSilent
			}
			asked, wait = l.breaker.now(), patience
			timer.Reset(wait)
		}
	}
}

var (
	errSilent = errors.New("redis is silent")
	errFull   = errors.New("too many calls wait for redis")
)
