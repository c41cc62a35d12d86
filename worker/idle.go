package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Times of an idle worker.
const (
	idleAfter = 25 * time.Millisecond // without a task in any lane
	watchGap  = time.Second           // after a failed look at a lane
	sleepMost = 2 * time.Second       // a poll of an idle worker
	watchMost = 5 * time.Second       // one blocking look at a lane, which a worker that stops ends
)

// idleLanes lets the polls of an idle process sleep until a lane has a task. asynq never blocks on a list, so without
// this its servers, of which there are several with a poll per lane each, would ask Redis hundreds of times a second
// for nothing. Instead one command per lane blocks in Redis: a BLMOVE from the end of the pending list to the same end,
// which leaves the list as it is. It returns as soon as there is a task, and the servers poll again.
type idleLanes struct {
	health *redisHealth

	came    atomic.Int64 // when a lane last had a task, in nanoseconds of Unix time
	mu      sync.Mutex
	watched map[queue.Lane]bool // by a BLMOVE
	wake    chan struct{}       // closed when a lane has a task or is no longer watched
}

func newIdleLanes(health *redisHealth) *idleLanes {
	l := &idleLanes{health: health, watched: map[queue.Lane]bool{}, wake: make(chan struct{})}
	l.noteTask()
	return l
}

// wakePolls ends the sleep of all polls, and lets none sleep for idleAfter.
func (l *idleLanes) wakePolls() {
	l.noteTask()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeLocked()
}

// wakeLocked ends the sleep of all polls. The caller must hold mu.
func (l *idleLanes) wakeLocked() {
	close(l.wake)
	l.wake = make(chan struct{})
}

// noteTask records that a poll got a task.
func (l *idleLanes) noteTask() { l.came.Store(time.Now().UnixNano()) }

// sinceTask returns how long ago a lane last had a task.
func (l *idleLanes) sinceTask() time.Duration { return time.Since(time.Unix(0, l.came.Load())) }

// sleepPoll delays a poll while the process is idle and all lanes are watched. It returns true after sleepMost without
// a task, so that the poll need not ask Redis, and false when there may be one.
func (l *idleLanes) sleepPoll(ctx context.Context) (stillEmpty bool) {
	l.mu.Lock()
	wake, may := l.wake, l.sinceTask() > idleAfter && len(l.watched) == len(queue.Lanes())
	l.mu.Unlock()
	if !may {
		return false
	}
	select {
	case <-wake:
		return false
	case <-time.After(sleepMost):
	case <-ctx.Done():
	}
	return true
}

// watchLane looks at a lane while the process is idle, until ctx ends.
func (l *idleLanes) watchLane(ctx context.Context, client redis.UniversalClient, lane queue.Lane) {
	defer l.markUnwatched(lane)
	w := asynqx.NewLaneWatch(client, lane)
	defer w.Close()
	for ctx.Err() == nil {
		if rest := l.busyFor(lane); rest > 0 {
			pauseFor(ctx, rest)
			continue
		}
		l.markWatched(lane)
		err := w.Await(ctx, watchMost)
		if err == nil {
			l.wakePolls()
		} else if !errors.Is(err, redis.Nil) { // Redis is unavailable, or older than BLMOVE: the servers poll
			l.markUnwatched(lane)
			pauseFor(ctx, watchGap)
		}
	}
}

// busyFor returns how long the process is not idle yet. In this time the lane is not watched.
func (l *idleLanes) busyFor(lane queue.Lane) time.Duration {
	rest := idleAfter - l.sinceTask()
	if l.health.down.Load() {
		rest = watchGap
	}
	if rest > 0 {
		l.markUnwatched(lane)
	}
	return rest
}

// markWatched records that a look at the lane follows, which returns at once if there is a task by then.
func (l *idleLanes) markWatched(lane queue.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched[lane] = true
}

// markUnwatched records that no look at the lane follows, and ends the sleep of all polls.
func (l *idleLanes) markUnwatched(lane queue.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.watched[lane] {
		return
	}
	delete(l.watched, lane)
	l.wakeLocked()
}
