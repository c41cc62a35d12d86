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
func (h *redisHealth) fullAgain(lane queue.Lane, every time.Duration) bool {
	last, _ := h.full.Load(lane)
	if at, _ := last.(time.Time); time.Since(at) < every {
		return false
	}
	h.full.Store(lane, time.Now())
	return true
}

// logLevel returns the log level of a failure. While Redis is down, which the process logs once, its consequences are
// logged at debug level.
func (h *redisHealth) logLevel() slog.Level {
	if h.down.Load() {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// markDown marks Redis as down and returns err.
func (h *redisHealth) markDown(err error) error {
	h.down.Store(true)
	return err
}

// learnEpoch reports whether a lane's epoch key was created or has changed. A process that starts beside others finds
// their key and has nothing to repair.
func (h *redisHealth) learnEpoch(lane queue.Lane, epoch string, made bool) bool {
	if h.epochs == nil {
		h.epochs = map[queue.Lane]string{}
	}
	before, known := h.epochs[lane]
	h.epochs[lane] = epoch
	return made || known && before != epoch
}

// forgetEpoch makes learnEpoch report the lane's epoch as changed the next time.
func (h *redisHealth) forgetEpoch(lane queue.Lane) { h.epochs[lane] = "" }

func (h *redisHealth) retriesOf(lane queue.Lane) int64 {
	n, _ := h.retries.Load(lane)
	count, _ := n.(int64)
	return count
}
