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
	openFor        = time.Second
)

// breaker keeps requests from asking a Redis that does not answer. It opens after three failures in a row and
// then probes in the background, so that no request pays for the probing.
type breaker struct {
	log     *slog.Logger
	metrics *Metrics
	probe   func(context.Context) error

	failures atomic.Int32
	open     atomic.Bool
	last     atomic.Int64 // when Redis last answered, in ns since began
	began    time.Time

	mu      sync.Mutex
	closed  bool
	stop    context.CancelFunc
	stopped context.Context //nolint:containedctx // the probe's whole life, ended by close
	probes  sync.WaitGroup
}

func newBreaker(log *slog.Logger, m *Metrics, probe func(context.Context) error) *breaker {
	b := &breaker{log: log, metrics: m, probe: probe, began: time.Now()}
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
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.log.WarnContext(b.stopped, "limiter degraded", "error", err)
	b.metrics.degraded(true)
	b.probes.Go(b.watch)
}

// watch asks whether Redis is back: at once, since it may only have been slow, and then at growing intervals up
// to a second.
func (b *breaker) watch() {
	for pause := time.Millisecond; ; pause = min(2*pause, openFor) {
		select {
		case <-b.stopped.Done():
			return
		case <-time.After(pause):
		}
		ctx, cancel := context.WithTimeout(b.stopped, patience)
		err := b.probe(ctx)
		cancel()
		if err == nil {
			b.failures.Store(0)
			b.open.Store(false)
			b.log.InfoContext(b.stopped, "limiter restored")
			b.metrics.degraded(false)
			return
		}
	}
}

func (b *breaker) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.probes.Wait()
}
