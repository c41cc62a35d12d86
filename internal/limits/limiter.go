package limits

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"runtime"
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
	look         = 10 * time.Millisecond // between two looks for an answer that lets itself be waited for
	late         = 3 * time.Millisecond  // a look that is later says that this process is slow, not Redis
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
	silence time.Duration // how long Redis may say nothing; patience but in tests of other things
	clock   func() time.Time
	at      func() (us int64, given bool) // a test's own time; production leaves it to Redis
}

// New makes a limiter without asking Redis anything. Close it.
func New(o Options) *Limiter {
	l := &Limiter{
		metrics: o.Metrics, local: newLocal(), denied: newDenied(), silence: patience, clock: time.Now, at: func() (int64, bool) { return 0, false },
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
	a := l.open(subject, r)
	if a.call != nil && !l.ferry.row(a.call, l.silent()) { //nolint:contextcheck // a call that was counted must not end with its request
		a.board()
	}
	return a.Wait()
}

// Asked is a request that is being decided on.
type Asked struct {
	limiter *Limiter
	subject string
	rule    Rule
	began   time.Time
	since   time.Duration // by the breaker's time
	call    *call         // nil where the process decides
	known   *Decision     // decided from memory
	err     error         // why Redis is not asked
}

// Ask counts one request as Take does, without waiting for the decision. Wait must follow.
func (l *Limiter) Ask(subject string, r Rule) *Asked {
	a := l.open(subject, r)
	if a.call != nil {
		a.board()
	}
	return a
}

// open looks for what is known without Redis; where it leaves a call, that is still to be sent.
func (l *Limiter) open(subject string, r Rule) *Asked {
	a := &Asked{limiter: l, subject: subject, rule: r, began: l.clock(), since: l.breaker.now()}
	if d, ok := l.denied.get(subject, r, a.began); ok {
		a.known = &d
		return a
	}
	if l.ferry == nil || l.breaker.isOpen() {
		a.err = errOpen
		return a
	}
	args := []any{r.step(), r.Burst, window.Microseconds()}
	if us, given := l.at(); given {
		args = append(args, us)
	}
	a.call = &call{key: "rl:{" + subject + "}", args: args, reply: make(chan reply, 1)}
	return a
}

func (a *Asked) board() {
	if !a.limiter.ferry.board(a.call) {
		a.err = errFull
	}
}

// silent is how long Redis may say nothing before the process decides.
func (l *Limiter) silent() time.Duration {
	if l.breaker.last.Load() == 0 {
		return max(l.silence, firstContact)
	}
	return l.silence
}

// Wait answers the decision. Call it once.
func (a *Asked) Wait() Decision {
	l := a.limiter
	if a.known != nil {
		l.metrics.decided(*a.known, true)
		return *a.known
	}
	var d Decision
	err := a.err
	if err == nil {
		d, err = a.answer()
	}
	if err != nil {
		d = l.local.take(a.subject, a.rule, a.began)
		d.Degraded = true
	}
	if !d.Allowed {
		l.denied.put(a.subject, a.rule, a.began, d)
	}
	l.metrics.decided(d, false)
	l.metrics.took(l.clock().Sub(a.began))
	return d
}

// answer is what Redis decides. It waits no longer than patience for a Redis that is silent, but as long as it
// takes, up to longest, while Redis answers others or this process itself is short of time: to decide without
// Redis what Redis has decided already would let one too many through.
func (a *Asked) answer() (Decision, error) {
	l := a.limiter
	select {
	case one := <-a.call.reply:
		return a.read(one)
	default:
	}
	silence := l.silent()
	timer := time.NewTimer(look)
	defer timer.Stop()
	for quiet, looked := time.Duration(0), l.breaker.now(); ; {
		select {
		case one := <-a.call.reply:
			return a.read(one)
		case <-timer.C:
		}
		runtime.Gosched() // whoever has an answer in hand comes first
		select {
		case one := <-a.call.reply:
			return a.read(one)
		default:
		}
		now := l.breaker.now()
		if now-looked < look+late {
			quiet += look
		}
		if now-a.since > max(longest, l.silence) || quiet >= silence && !l.breaker.heard(patience) {
			a.call.left.Store(true)
			l.breaker.failed(errSilent)
			return Decision{}, errSilent
		}
		looked = now
		timer.Reset(look)
	}
}

func (a *Asked) read(one reply) (Decision, error) {
	l := a.limiter
	if one.err != nil {
		l.breaker.failed(one.err)
		return Decision{}, one.err
	}
	got := one.values
	l.local.observe(a.subject, a.rule, l.clock(), got[1])
	return Decision{Rule: a.rule, Allowed: got[0] == 1, Remaining: got[1], Grows: us(got[3]), ByWindow: got[4] == 1}, nil
}

var (
	errOpen   = errors.New("the breaker is open")
	errSilent = errors.New("redis is silent")
	errFull   = errors.New("too many calls wait for redis")
)
