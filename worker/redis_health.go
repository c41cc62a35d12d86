package worker

import (
	"log/slog"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// redisHealth is this process's view of Redis.
type redisHealth struct {
	mu      sync.Mutex
	down    bool                     // a command failed and no ping has succeeded since
	epochs  map[queue.Lane]string    // epoch keys as last read
	retries map[queue.Lane]int64     // tasks under Retry
	full    map[queue.Lane]time.Time // when this process last marked the lane as full
}

// fullAgain reports whether it is time to mark the lane as full again.
func (l *redisHealth) fullAgain(lane queue.Lane, every time.Duration) bool {
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

func (l *redisHealth) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

// level returns the log level of a failure. While Redis is down, which the process logs once, its consequences are
// logged at debug level.
func (l *redisHealth) level() slog.Level {
	if l.isDown() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// failed marks Redis as down and returns err.
func (l *redisHealth) failed(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	return err
}

// back marks Redis as up and reports whether it was down.
func (l *redisHealth) back() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.down
	l.down = false
	return was
}

// learn reports whether a lane's epoch key was created or has changed. A process that starts beside others finds their
// key and has nothing to repair.
func (l *redisHealth) learn(lane queue.Lane, epoch string, made bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epochs == nil {
		l.epochs = map[queue.Lane]string{}
	}
	before, known := l.epochs[lane]
	l.epochs[lane] = epoch
	return made || known && before != epoch
}

// forget makes learn report the lane's epoch as changed the next time.
func (l *redisHealth) forget(lane queue.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epochs[lane] = ""
}

func (l *redisHealth) setRetries(lane queue.Lane, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retries == nil {
		l.retries = map[queue.Lane]int64{}
	}
	l.retries[lane] = n
}

func (l *redisHealth) retriesOf(lane queue.Lane) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retries[lane]
}
