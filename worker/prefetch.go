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
	mu      sync.Mutex
	buffers map[string]*prefetchBuffer
	over    bool // prefetch nothing any more
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
		buffers: map[string]*prefetchBuffer{
			general: {want: map[queue.Lane]int{}}, webhookPool: {want: map[queue.Lane]int{}},
			remotePool: {want: map[queue.Lane]int{}},
		},
	}
}

// bufferPool returns the pool that holds the prefetchBuffer of a pool.
func bufferPool(pool string) string {
	if pool == reserved {
		return general
	}
	return pool
}

func (p *prefetch) bufferOf(lane queue.Lane) *prefetchBuffer {
	switch lane {
	case queue.Webhooks:
		return p.buffers[webhookPool]
	case queue.Remote:
		return p.buffers[remotePool]
	case queue.Critical, queue.Default, queue.Bulk:
	}
	return p.buffers[general]
}

// resize sets the number of slots of a pool and the pools that share its lanes.
func (p *prefetch) resize(pool string, slots int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buffers[pool].slots = slots
}

// freeSlot records that a task has left its slot.
func (p *prefetch) freeSlot(pool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.buffers[bufferPool(pool)]
	s.out = max(0, s.out-1)
}

// popKept returns a task that was kept for the lane. If there is none, wait reports whether tasks of other lanes are
// kept, so that the poll must find nothing.
func (p *prefetch) popKept(lane queue.Lane) (message string, found, wait bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bufferOf(lane)
	i := slices.IndexFunc(s.kept, func(k prefetched) bool { return k.lane == lane })
	if i < 0 {
		return "", false, len(s.kept) > 0
	}
	message = s.kept[i].message
	s.kept = slices.Delete(s.kept, i, i+1)
	s.out++
	return message, true, false
}

// reserveTasks returns how many tasks may be requested now. It returns one, and more if the last request of the lane
// was filled and there are free slots. It returns none while requests in flight may need all free slots. Bulk tasks are
// requested one by one, because the servers without bulk hold some of the counted slots. If the count is off because
// asynq never ran a task that it was given, each poll still gets one task.
func (p *prefetch) reserveTasks(lane queue.Lane) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bufferOf(lane)
	n := 1
	free := s.slots - s.out - s.asked - len(s.kept)
	if free < 1 && s.spare > 0 {
		return 0
	}
	if !p.over && lane != queue.Bulk {
		n = max(1, min(s.want[lane], free))
	}
	s.asked += n
	s.spare += n - 1
	return n
}

// storeTasks completes reserveTasks: asynq gets the first message, and the others are kept.
func (p *prefetch) storeTasks(lane queue.Lane, asked int, messages []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bufferOf(lane)
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

// fetchTasks completes a poll with one task, and keeps as many others as reserveTasks allows.
func (p *prefetch) fetchTasks(ctx context.Context, lane queue.Lane, ask *asynqx.Poll) error {
	n := p.reserveTasks(lane)
	if n == 0 {
		return ask.Empty()
	}
	messages, err := ask.Take(ctx, n)
	p.storeTasks(lane, n, messages)
	if err != nil {
		return ask.Fail(err)
	}
	return ask.Give(messages[0])
}

// drainKept stops prefetching and returns when no task is kept any more. This takes about one poll interval, because
// there is a free slot for every kept task.
func (p *prefetch) drainKept() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	for until := time.Now().Add(4 * pollPending); time.Now().Before(until) && p.holdsTasks(); {
		time.Sleep(time.Millisecond)
	}
}

func (p *prefetch) holdsTasks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.buffers {
		if len(s.kept)+s.asked > 0 {
			return true
		}
	}
	return false
}
