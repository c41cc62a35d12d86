package worker

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// redisHealth is this process's view of Redis.
type redisHealth struct {
	down    atomic.Bool           // a command failed and no ping has succeeded since
	retries sync.Map              // tasks under Retry, by lane
	full    sync.Map              // when this process last marked the lane as full
	epochs  map[queue.Lane]string // epoch keys as last read; the relay's alone
}

// fullAgain reports whether it is time to mark the lane as full again.
func (l *redisHealth) fullAgain(lane queue.Lane, every time.Duration) bool {
	last, _ := l.full.Load(lane)
	if at, _ := last.(time.Time); time.Since(at) < every {
		return false
	}
	l.full.Store(lane, time.Now())
	return true
}

// level returns the log level of a failure. While Redis is down, which the process logs once, its consequences are
// logged at debug level.
func (l *redisHealth) level() slog.Level {
	if l.down.Load() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// failed marks Redis as down and returns err.
func (l *redisHealth) failed(err error) error {
	l.down.Store(true)
	return err
}

// learn reports whether a lane's epoch key was created or has changed. A process that starts beside others finds their
// key and has nothing to repair.
func (l *redisHealth) learn(lane queue.Lane, epoch string, made bool) bool {
	if l.epochs == nil {
		l.epochs = map[queue.Lane]string{}
	}
	before, known := l.epochs[lane]
	l.epochs[lane] = epoch
	return made || known && before != epoch
}

// forget makes learn report the lane's epoch as changed the next time.
func (l *redisHealth) forget(lane queue.Lane) { l.epochs[lane] = "" }

func (l *redisHealth) retriesOf(lane queue.Lane) int64 {
	n, _ := l.retries.Load(lane)
	count, _ := n.(int64)
	return count
}
