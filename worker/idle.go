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
	link *redisHealth

	came    atomic.Int64 // when a lane last had a task, in nanoseconds of Unix time
	mu      sync.Mutex
	watched map[queue.Lane]bool // by a BLMOVE
	wake    chan struct{}       // closed when a lane has a task or is no longer watched
}

func newIdleLanes(link *redisHealth) *idleLanes {
	l := &idleLanes{link: link, watched: map[queue.Lane]bool{}, wake: make(chan struct{})}
	l.had()
	return l
}

// stir ends the sleep of all polls, and lets none sleep for idleAfter.
func (l *idleLanes) stir() {
	l.had()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rouse()
}

// rouse ends the sleep of all polls. The caller must hold mu.
func (l *idleLanes) rouse() {
	close(l.wake)
	l.wake = make(chan struct{})
}

// had records that a poll got a task.
func (l *idleLanes) had() { l.came.Store(time.Now().UnixNano()) }

// since returns how long ago a lane last had a task.
func (l *idleLanes) since() time.Duration { return time.Since(time.Unix(0, l.came.Load())) }

// sleep delays a poll while the process is idle and all lanes are watched. It returns true after sleepMost without a
// task, so that the poll need not ask Redis, and false when there may be one.
func (l *idleLanes) sleep(ctx context.Context) (stillEmpty bool) {
	l.mu.Lock()
	wake, may := l.wake, l.since() > idleAfter && len(l.watched) == len(queue.Lanes())
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

// watch looks at a lane while the process is idle, until ctx ends.
func (l *idleLanes) watch(ctx context.Context, client redis.UniversalClient, lane queue.Lane) {
	defer l.unwatch(lane)
	w := asynqx.NewLaneWatch(client, lane)
	defer w.Close()
	for ctx.Err() == nil {
		if rest := l.busyFor(lane); rest > 0 {
			pause(ctx, rest)
			continue
		}
		l.watching(lane)
		err := w.Await(ctx, watchMost)
		if err == nil {
			l.stir()
		} else if !errors.Is(err, redis.Nil) { // Redis is unavailable, or older than BLMOVE: the servers poll
			l.unwatch(lane)
			pause(ctx, watchGap)
		}
	}
}

// busyFor returns how long the process is not idle yet. In this time the lane is not watched.
func (l *idleLanes) busyFor(lane queue.Lane) time.Duration {
	rest := idleAfter - l.since()
	if l.link.down.Load() {
		rest = watchGap
	}
	if rest > 0 {
		l.unwatch(lane)
	}
	return rest
}

// watching records that a look at the lane follows, which returns at once if there is a task by then.
func (l *idleLanes) watching(lane queue.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched[lane] = true
}

// unwatch records that no look at the lane follows, and ends the sleep of all polls.
func (l *idleLanes) unwatch(lane queue.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.watched[lane] {
		return
	}
	delete(l.watched, lane)
	l.rouse()
}
