package limits

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"
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
	redis   redis.UniversalClient
	breaker *breaker
	ferry   *ferry // nil where the process decides alone
	local   *local
	denied  *denied
	failing atomic.Pointer[string] // key of the last call that failed
	silence time.Duration          // how long Redis may say nothing; patience but in tests of other things
	askFull bool                   // ask Redis even where the process's own admissions leave no room; for tests
	clock   func() time.Time
	at      func() (us int64, given bool) // a test's own time; production leaves it to Redis
}

// New makes a limiter without asking Redis anything. Close it.
func New(o Options) *Limiter {
	l := &Limiter{
		metrics: o.Metrics, local: newLocal(), denied: newDenied(), silence: patience, clock: time.Now,
		at: func() (int64, bool) { return 0, false },
	}
	l.redis = o.Redis
	if c, ok := l.redis.(*redis.Client); ok {
		l.redis = c.WithTimeout(longest) // await keeps the time
	}
	l.breaker = newBreaker(o.Log, o.Metrics, l.recover, l.local.owes)
	if l.redis != nil {
		l.ferry = newFerry(l.redis, l.breaker, l.arrived)
	}
	return l
}

// Close waits for what still runs: a probe, and calls that were given up. What the process admitted alone is charged
// if Redis answers. The client stays open, and nothing may be taken any more.
func (l *Limiter) Close() {
	l.breaker.close()
	if l.ferry == nil {
		return
	}
	l.ferry.close()
	l.breaker.settle()
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
	if d, full := l.local.full(subject, r, a.began); full && !l.askFull {
		a.known = &d
		return a
	}
	a.call = l.newCall(subject, r, a.began)
	return a
}

func (a *Asked) board() {
	if !a.limiter.ferry.board(a.call) {
		a.err = errFull
		a.limiter.arrived(a.call, reply{err: errFull})
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
	var got reply
	err := a.err
	if err == nil {
		got, err = a.await()
	}
	d := a.decide(got, err)
	if !d.Allowed {
		l.denied.put(a.subject, a.rule, a.began, d)
	}
	l.metrics.decided(d, false)
	l.metrics.took(l.clock().Sub(a.began))
	return d
}

// decide holds Redis's answer against what the process admitted, or decides alone where there is none.
func (a *Asked) decide(got reply, err error) (d Decision) {
	l, owes := a.limiter, false
	l.local.with(a.subject, a.rule, l.clock(), func(s *state, us int64) {
		if err != nil && a.call != nil {
			select { // it may have come since; from now on arrived finds that the process has decided
			case got = <-a.call.reply:
				err = got.err
			default:
			}
		}
		if err == nil {
			d = s.judge(got.decision(a.rule), l.local.us(a.began), us)
			return
		}
		d = s.alone(a.rule, us)
		if !d.Allowed || l.ferry == nil {
			return
		}
		owes = true
		l.local.owe(a.subject, s, us)
		if a.call != nil {
			a.call.alone = us
		}
	})
	if owes {
		l.breaker.watch()
	}
	return d
}

// await waits for Redis's answer. It waits no longer than patience for a Redis that is silent, but as long as it
// takes, up to longest, while Redis answers others or this process itself is short of time: what is decided without
// Redis is then counted twice.
func (a *Asked) await() (reply, error) {
	l := a.limiter
	select {
	case got := <-a.call.reply:
		return got, l.check(a.call, got.err)
	default:
	}
	silence := l.silent()
	timer := time.NewTimer(look)
	defer timer.Stop()
	for quiet, looked := time.Duration(0), l.breaker.now(); ; {
		select {
		case got := <-a.call.reply:
			return got, l.check(a.call, got.err)
		case <-timer.C:
		}
		runtime.Gosched() // whoever has an answer in hand comes first
		select {
		case got := <-a.call.reply:
			return got, l.check(a.call, got.err)
		default:
		}
		now := l.breaker.now()
		if now-looked < look+late {
			quiet += look
		}
		if now-a.since > max(longest, l.silence) || quiet >= silence && !l.breaker.heard(patience) {
			a.call.left.Store(true)
			return reply{}, l.check(a.call, errSilent)
		}
		looked = now
		timer.Reset(look)
	}
}

// check counts an error against Redis and returns it.
func (l *Limiter) check(c *call, err error) error {
	if err != nil {
		l.failing.Store(&c.key)
		l.breaker.failed(err)
	}
	return err
}

var (
	errOpen   = errors.New("the breaker is open")
	errSilent = errors.New("redis is silent")
	errFull   = errors.New("too many calls wait for redis")
	errLeft   = errors.New("the call was given up before it was sent")
)
