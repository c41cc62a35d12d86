package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// prefetchMax is the most tasks that one round trip to Redis takes.
const prefetchMax = 8

// prefetch lets the asynq servers of one process take several tasks per round trip to Redis instead of one, because a
// round trip costs the process and Redis more than a task does. Prefetched tasks are kept for the next polls of any
// server. Prefetch never exceeds the free slots, so a prefetched task waits only until a server with a free slot polls
// again. While tasks are kept, their slots stay free for them: all other lanes of the same servers are reported as
// empty.
type prefetch struct {
	mu    sync.Mutex
	crews map[string]*prefetchBuffer
	over  bool // prefetch nothing any more
}

// prefetchBuffer is the state of servers that share lanes: reserved and general together, and each other pool.
type prefetchBuffer struct {
	slots int
	out   int // tasks given to asynq that have not ended
	asked int // tasks requested from Redis
	spare int // requested tasks beyond one per poll
	kept  []prefetched
	want  map[queue.Lane]int // tasks to request next, by lane
}

type prefetched struct {
	lane    queue.Lane
	message string
}

func newPrefetch() *prefetch {
	return &prefetch{
		crews: map[string]*prefetchBuffer{
			general: {want: map[queue.Lane]int{}}, webhookPool: {want: map[queue.Lane]int{}},
			remotePool: {want: map[queue.Lane]int{}},
		},
	}
}

// shared returns the pool that holds the prefetchBuffer of a pool.
func shared(crew string) string {
	if crew == reserved {
		return general
	}
	return crew
}

func (t *prefetch) of(lane queue.Lane) *prefetchBuffer {
	switch lane {
	case queue.Webhooks:
		return t.crews[webhookPool]
	case queue.Remote:
		return t.crews[remotePool]
	case queue.Critical, queue.Default, queue.Bulk:
	}
	return t.crews[general]
}

// resize sets the number of slots of a pool and the pools that share its lanes.
func (t *prefetch) resize(crew string, slots int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crews[crew].slots = slots
}

// ended records that a task has left its slot.
func (t *prefetch) ended(crew string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.crews[shared(crew)]
	s.out = max(0, s.out-1)
}

// pop returns a task that was kept for the lane. If there is none, wait reports whether tasks of other lanes are kept,
// so that the poll must find nothing.
func (t *prefetch) pop(lane queue.Lane) (message string, found, wait bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(lane)
	i := slices.IndexFunc(s.kept, func(k prefetched) bool { return k.lane == lane })
	if i < 0 {
		return "", false, len(s.kept) > 0
	}
	message = s.kept[i].message
	s.kept = slices.Delete(s.kept, i, i+1)
	s.out++
	return message, true, false
}

// reserve returns how many tasks may be requested now. It returns one, and more if the last request of the lane was
// filled and there are free slots. It returns none while requests in flight may need all free slots. Bulk tasks are
// requested one by one, because the servers without bulk hold some of the counted slots. If the count is off because
// asynq never ran a task that it was given, each poll still gets one task.
func (t *prefetch) reserve(lane queue.Lane) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, n := t.of(lane), 1
	free := s.slots - s.out - s.asked - len(s.kept)
	if free < 1 && s.spare > 0 {
		return 0
	}
	if !t.over && lane != queue.Bulk {
		n = max(1, min(s.want[lane], free))
	}
	s.asked += n
	s.spare += n - 1
	return n
}

// got completes reserve: asynq gets the first message, and the others are kept.
func (t *prefetch) got(lane queue.Lane, asked int, messages []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(lane)
	s.asked -= asked
	s.spare -= asked - 1
	s.want[lane] = max(1, len(messages))
	if len(messages) == asked {
		s.want[lane] = min(2*asked, prefetchMax)
	}
	for i, m := range messages {
		if i == 0 {
			s.out++
			continue
		}
		s.kept = append(s.kept, prefetched{lane, m})
	}
}

// take completes a poll with one task, and keeps as many others as reserve allows.
func (t *prefetch) take(ctx context.Context, lane queue.Lane, ask *asynqx.Poll) error {
	n := t.reserve(lane)
	if n == 0 {
		return ask.Empty()
	}
	messages, err := ask.Take(ctx, n)
	t.got(lane, n, messages)
	if err != nil {
		return ask.Fail(err)
	}
	return ask.Give(messages[0])
}

// end stops prefetching and returns when no task is kept any more. This takes about one poll interval, because there is
// a free slot for every kept task.
func (t *prefetch) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	for until := time.Now().Add(4 * pollPending); time.Now().Before(until) && t.keeps(); {
		time.Sleep(time.Millisecond)
	}
}

func (t *prefetch) keeps() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.crews {
		if len(s.kept)+s.asked > 0 {
			return true
		}
	}
	return false
}
