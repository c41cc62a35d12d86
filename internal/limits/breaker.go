package limits

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	failuresToOpen = 3
	// upper bound: until a process knows that Redis is back, it decides alone
	probeEvery = 250 * time.Millisecond
)

// breaker is a circuit breaker for Redis. It opens after three consecutive failures. A background goroutine probes
// Redis and closes it, so that no request waits for a probe.
type breaker struct {
	log     *slog.Logger
	metrics *Metrics
	recover func(context.Context) error // probes Redis and charges what it missed
	owes    func() bool                 // reports whether Redis missed any admission

	failures atomic.Int32
	open     atomic.Bool
	last     atomic.Int64 // when Redis last answered, in ns since began
	began    time.Time

	mu       sync.Mutex
	closed   bool
	watching bool
	stop     context.CancelFunc
	stopped  context.Context //nolint:containedctx // the watch's whole life, ended by close
	watches  sync.WaitGroup
}

func newBreaker(log *slog.Logger, m *Metrics, recovery func(context.Context) error, owes func() bool) *breaker {
	b := &breaker{log: log, metrics: m, recover: recovery, owes: owes, began: time.Now()}
	b.stopped, b.stop = context.WithCancel(context.Background())
	return b
}

func (b *breaker) isOpen() bool { return b.open.Load() }

// now returns the time since the breaker began.
func (b *breaker) now() time.Duration { return time.Since(b.began) }

// heard reports whether any call got a reply from Redis within d.
func (b *breaker) heard(d time.Duration) bool {
	last := b.last.Load()
	return last > 0 && b.now()-time.Duration(last) < d
}

func (b *breaker) succeeded() {
	b.last.Store(int64(b.now()))
	if b.failures.Load() != 0 {
		b.failures.Store(0)
	}
}

func (b *breaker) failed(err error) {
	if b.failures.Add(1) < failuresToOpen || !b.open.CompareAndSwap(false, true) {
		return
	}
	b.log.DebugContext(b.stopped, "limiter degraded", "error", err)
	b.metrics.degraded(true)
	b.startWatch()
}

// startWatch starts a goroutine, unless one is running, that probes until Redis is back and has counted what this
// process admitted alone.
func (b *breaker) startWatch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watching || b.closed {
		return
	}
	b.watching = true
	b.watches.Go(b.run)
}

// run probes immediately, since Redis may only have been slow, and then at growing intervals.
func (b *breaker) run() {
	for pause := time.Millisecond; ; pause = min(2*pause, probeEvery) {
		select {
		case <-b.stopped.Done():
			return
		case <-time.After(pause):
		}
		if b.recover(b.stopped) == nil {
			b.failures.Store(0)
			if b.open.CompareAndSwap(true, false) {
				b.log.DebugContext(b.stopped, "limiter restored")
				b.metrics.degraded(false)
			}
			if b.endWatch() {
				return
			}
		}
	}
}

// endWatch stops the watch and reports true if the breaker is closed and Redis has counted everything.
func (b *breaker) endWatch() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watching = b.isOpen() || b.owes()
	return !b.watching
}

func (b *breaker) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.watches.Wait()
}

// chargeRest makes a last attempt to charge what Redis missed. It is called after close.
func (b *breaker) chargeRest() {
	if b.owes() {
		_ = b.recover(context.WithoutCancel(b.stopped))
	}
}
