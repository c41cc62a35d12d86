package worker

import (
	"context"
	"time"
)

// Intervals of an idle process, in which no lane has had a task for quiet.
const (
	quiet     = 100 * time.Millisecond
	feedIdle  = time.Second // between two rounds of the feeder
	watchIdle = 4           // times Timing.Watch, between two calls of a watch
)

// pauseIdle is pauseFor, but ends after at most busy once an idle process has a task, and sometimes when it has none.
func (l *idleLanes) pauseIdle(ctx context.Context, d, busy time.Duration) bool {
	if d > busy {
		l.mu.Lock()
		wake := l.wake
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(d - busy):
		}
	}
	return pauseFor(ctx, min(d, busy))
}

func (l *idleLanes) isQuiet() bool { return l.sinceTask() > quiet }

// feedPause returns the delay after a round of the feeder that found no waiting job: every, but in an idle process at
// most feedIdle, no longer than until the next delayed job is due.
func (l *idleLanes) feedPause(every, next time.Duration) time.Duration {
	if !l.isQuiet() {
		return every
	}
	return max(every, min(next, feedIdle))
}

// watchPause returns the delay between two calls of a watch.
func (l *idleLanes) watchPause(every time.Duration) time.Duration {
	if l.isQuiet() {
		return watchIdle * every
	}
	return every
}
