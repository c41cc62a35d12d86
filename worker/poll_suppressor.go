package worker

import (
	"context"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// pollApart is how long all servers of this process treat a lane as empty after one of them found it empty. The servers
// of the webhooks lane poll the most often; after callsIdle without a task that lane uses pollIdle instead.
const (
	pollApart = 4 * time.Millisecond
	pollIdle  = 12 * time.Millisecond
	callsIdle = time.Second
)

// pollSuppressor completes some of asynq's polls without asking Redis. A server polls each of its lanes in turn with
// one script each, so while one lane is busy most polls concern empty lanes, and several servers repeat the same polls.
// A lane that was just found empty is therefore not polled again for a moment. While Redis is down no lane is polled:
// asynq would dial for every poll, and the relay detects the recovery soon enough.
type pollSuppressor struct {
	link  *redisHealth
	takes *prefetch
	idle  *idleLanes
	mu    sync.Mutex
	empty map[queue.Lane]time.Time // when a lane was last found empty
	came  time.Time                // when the webhooks lane last had a task
}

func newPollSuppressor(l *redisHealth, t *prefetch, idle *idleLanes) *pollSuppressor {
	return &pollSuppressor{link: l, takes: t, idle: idle, empty: map[queue.Lane]time.Time{}}
}

// poll completes polls that need no look-up, and records the results of the remaining polls.
func (p *pollSuppressor) poll(ctx context.Context, ask *asynqx.Poll) error {
	lane := queue.Lane(ask.Queue)
	message, found, wait := p.takes.pop(lane)
	switch {
	case found:
		return ask.Give(message)
	case wait || p.idle.sleep(ctx) || p.link.isDown() || p.lately(lane):
		return ask.Empty()
	}
	short, err := p.takes.take(ctx, lane, ask)
	if err == nil {
		p.idle.had()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if short {
		p.empty[lane] = time.Now()
	}
	if err == nil && lane == queue.Webhooks {
		p.came = time.Now()
	}
	return err
}

func (p *pollSuppressor) lately(lane queue.Lane) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	apart := pollApart
	if lane == queue.Webhooks && time.Since(p.came) > callsIdle {
		apart = pollIdle
	}
	return time.Since(p.empty[lane]) < apart
}
