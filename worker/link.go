package worker

import (
	"log/slog"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// link is what this process knows about Redis.
type link struct {
	mu      sync.Mutex
	down    bool                     // something failed, and no sign of life has come since
	epochs  map[queue.Lane]string    // the keys as last read
	retries map[queue.Lane]int64     // what asynq lists under Retry
	full    map[queue.Lane]time.Time // when this process last said so
}

// fullAgain tells whether it is time to say once more that the lane is full.
func (l *link) fullAgain(lane queue.Lane, every time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full == nil {
		l.full = map[queue.Lane]time.Time{}
	}
	if time.Since(l.full[lane]) < every {
		return false
	}
	l.full[lane] = time.Now()
	return true
}

func (l *link) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

// level is that of a failure: while Redis is away, which the process logs once, nothing more is said of what it causes.
func (l *link) level() slog.Level {
	if l.isDown() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// failed remembers err and answers it.
func (l *link) failed(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	return err
}

// back tells whether this sign of life is the first after a failure.
func (l *link) back() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.down
	l.down = false
	return was
}

// learn tells whether a lane's epoch was made anew or is another than before. A process that starts beside
// others finds their key and has nothing to repair.
func (l *link) learn(lane queue.Lane, epoch string, made bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epochs == nil {
		l.epochs = map[queue.Lane]string{}
	}
	before, known := l.epochs[lane]
	l.epochs[lane] = epoch
	return made || known && before != epoch
}

// forget makes the lane's epoch count as changed the next time.
func (l *link) forget(lane queue.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epochs[lane] = ""
}

func (l *link) setRetries(lane queue.Lane, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retries == nil {
		l.retries = map[queue.Lane]int64{}
	}
	l.retries[lane] = n
}

func (l *link) retriesOf(lane queue.Lane) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retries[lane]
}
