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

// How long one request waits for Redis in total.
const (
	patience     = 50 * time.Millisecond
	firstContact = 250 * time.Millisecond // until the first reply: connections are made first
	longest      = time.Second
	look         = 10 * time.Millisecond // interval between checks for a late reply
	late         = 3 * time.Millisecond  // a check later than this means that this process is slow, not Redis
)

// Options configures a Limiter.
type Options struct {
	// Redis makes every decision. Its client must neither retry nor wait: a command sent twice counts twice. If Redis
	// is nil, the process decides alone.
	Redis redis.UniversalClient
	Log   *slog.Logger
	// Metrics is optional.
	Metrics *Metrics
}

// Limiter decides for all subjects. It is safe for concurrent use.
type Limiter struct {
	metrics *Metrics
	redis   redis.UniversalClient
	breaker *breaker
	ferry   *pipeliner // nil if the process decides alone
	local   *local
	denied  *denied
	failing atomic.Pointer[string] // key of the last failed call
	silence time.Duration          // how long to wait for a silent Redis; patience except in tests
	askFull bool                   // for tests: call Redis even if own admissions leave no room
	clock   func() time.Time
	at      func() (us int64, given bool) // a test's clock; in production Redis's clock is used
}

// New returns a limiter without calling Redis. The caller must close it.
func New(o Options) *Limiter {
	l := &Limiter{
		metrics: o.Metrics, local: newLocal(), denied: newDenied(), silence: patience, clock: time.Now,
		at: func() (int64, bool) { return 0, false },
	}
	l.redis = o.Redis
	if c, ok := l.redis.(*redis.Client); ok {
		l.redis = c.WithTimeout(longest) // await enforces the timeout
	}
	l.breaker = newBreaker(o.Log, o.Metrics, l.recover, l.local.hasUncharged)
	if l.redis != nil {
		l.ferry = newPipeliner(l.redis, l.breaker, l.arrived)
	}
	return l
}

// Close waits for a running probe and for calls that timed out. It charges what the process admitted alone if Redis is
// available. The client stays open. The limiter must not be used afterwards.
func (l *Limiter) Close() {
	l.breaker.close()
	if l.ferry == nil {
		return
	}
	l.ferry.close()
	l.breaker.chargeRest()
}

// Take counts one request of the subject, an org's id or another key, and returns the decision. It never fails. An
// unavailable Redis costs at most 50 ms, three times in a row, and then microseconds.
func (l *Limiter) Take(_ context.Context, subject string, r Rule) Decision {
	a := l.newPending(subject, r)
	// A call that was counted must not end with its request.
	if a.call != nil && !l.ferry.tryDirect(a.call, l.silenceLimit()) { //nolint:contextcheck // see above
		a.enqueue()
	}
	return a.Wait()
}

// Pending is a request whose decision is pending.
type Pending struct {
	limiter *Limiter
	subject string
	rule    Rule
	began   time.Time
	since   time.Duration // on the breaker's clock
	call    *call         // nil if the process decides
	known   *Decision     // a decision from memory
	err     error         // why Redis is not called
}

// Start counts one request as Take does, without waiting for the decision. The caller must call Wait.
func (l *Limiter) Start(subject string, r Rule) *Pending {
	a := l.newPending(subject, r)
	if a.call != nil {
		a.enqueue()
	}
	return a
}

// newPending decides from memory if it can. Otherwise it sets a call, which the caller must send, or the error because
// of which Redis is not called.
func (l *Limiter) newPending(subject string, r Rule) *Pending {
	a := &Pending{limiter: l, subject: subject, rule: r, began: l.clock(), since: l.breaker.now()}
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

func (p *Pending) enqueue() {
	if !p.limiter.ferry.enqueue(p.call) {
		p.err = errFull
		p.limiter.arrived(p.call, reply{err: errFull})
	}
}

// silenceLimit returns how long to wait for a silent Redis before the process decides.
func (l *Limiter) silenceLimit() time.Duration {
	if l.breaker.last.Load() == 0 {
		return max(l.silence, firstContact)
	}
	return l.silence
}

// Wait returns the decision. It must be called once.
func (p *Pending) Wait() Decision {
	l := p.limiter
	if p.known != nil {
		l.metrics.decided(*p.known, true)
		return *p.known
	}
	var got reply
	err := p.err
	if err == nil {
		got, err = p.await()
	}
	d := p.decide(got, err)
	if !d.Allowed {
		l.denied.put(p.subject, p.rule, p.began, d)
	}
	l.metrics.decided(d, false)
	l.metrics.took(l.clock().Sub(p.began))
	return d
}

// decide checks Redis's decision against what the process admitted, or decides alone if there is none.
func (p *Pending) decide(got reply, err error) (d Decision) {
	l, owes := p.limiter, false
	l.local.with(p.subject, p.rule, l.clock(), func(s *state, us int64) {
		if err != nil && p.call != nil {
			select { // the reply may have come since; from now on arrived sees that the process has decided
			case got = <-p.call.reply:
				err = got.err
			default:
			}
		}
		if err == nil {
			d = s.judge(got.decision(p.rule), l.local.us(p.began), us)
			return
		}
		d = s.alone(p.rule, us)
		if !d.Allowed || l.ferry == nil {
			return
		}
		owes = true
		l.local.recordUncharged(p.subject, s, us)
		if p.call != nil {
			p.call.alone = us
		}
	})
	if owes {
		l.breaker.startWatch()
	}
	return d
}

// await waits for Redis's reply. It waits at most patience for a silent Redis. While Redis replies to other calls, or
// this process is short of CPU time, it waits up to longest: a request decided without Redis is counted twice.
func (p *Pending) await() (reply, error) {
	l := p.limiter
	select {
	case got := <-p.call.reply:
		return got, l.check(p.call, got.err)
	default:
	}
	silence := l.silenceLimit()
	timer := time.NewTimer(look)
	defer timer.Stop()
	for quiet, looked := time.Duration(0), l.breaker.now(); ; {
		select {
		case got := <-p.call.reply:
			return got, l.check(p.call, got.err)
		case <-timer.C:
		}
		runtime.Gosched() // lets a goroutine that has a reply deliver it first
		select {
		case got := <-p.call.reply:
			return got, l.check(p.call, got.err)
		default:
		}
		now := l.breaker.now()
		if now-looked < look+late {
			quiet += look
		}
		if now-p.since > max(longest, l.silence) || quiet >= silence && !l.breaker.heard(patience) {
			p.call.left.Store(true)
			return reply{}, l.check(p.call, errSilent)
		}
		looked = now
		timer.Reset(look)
	}
}

// check counts an error as a failure of Redis and returns it.
func (l *Limiter) check(c *call, err error) error {
	if err != nil {
		l.failing.Store(&c.key)
		l.breaker.failed(err)
	}
	return err
}

var (
	errOpen   = errors.New("circuit breaker is open")
	errSilent = errors.New("redis did not reply in time")
	errFull   = errors.New("too many calls to redis are waiting")
	errLeft   = errors.New("call was canceled before it was sent")
)
