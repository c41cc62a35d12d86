package worker

import "time"

// Intervals of an idle process, in which no lane has had a task for quiet.
const (
	quiet     = 100 * time.Millisecond
	feedIdle  = time.Second // between two rounds of the feeder
	watchIdle = 4           // times Timing.Watch, between two calls of a watch
)

// woken returns a channel that is closed when an idle process has a task, and sometimes when it has none.
func (l *idleLanes) woken() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wake
}

func (l *idleLanes) isQuiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.came) > quiet
}

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
