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
	probeEvery     = 250 * time.Millisecond // at most: while a process does not know that Redis is back it decides alone
)

// breaker keeps requests from asking a Redis that does not answer. It opens after three failures in a row, and a
// watch in the background closes it, so that no request pays for the probing.
type breaker struct {
	log     *slog.Logger
	metrics *Metrics
	recover func(context.Context) error // asks whether Redis is back, and tells it what it missed
	owes    func() bool                 // reports whether Redis has missed anything

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

// now is the breaker's own time.
func (b *breaker) now() time.Duration { return time.Since(b.began) }

// heard tells whether Redis answered anybody within d.
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
	b.watch()
}

// watch sees to it that a goroutine asks whether Redis is back until it is, and knows what this process admitted
// alone.
func (b *breaker) watch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watching || b.closed {
		return
	}
	b.watching = true
	b.watches.Go(b.run)
}

// run asks at once, since Redis may only have been slow, and then at growing intervals.
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
			if b.done() {
				return
			}
		}
	}
}

// done ends the watch if there is nothing more to watch for.
func (b *breaker) done() bool {
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

// settle is a last try to tell Redis what it missed, after close.
func (b *breaker) settle() {
	if b.owes() {
		_ = b.recover(context.WithoutCancel(b.stopped))
	}
}
