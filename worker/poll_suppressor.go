package worker

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// pollSuppressor completes some of asynq's polls without asking Redis: with tasks that were prefetched, and as empty
// while the process is idle. While Redis is down no lane is polled: asynq would dial for every poll, and the relay
// detects the recovery soon enough.
type pollSuppressor struct {
	health   *redisHealth
	prefetch *prefetch
	idle     *idleLanes
}

// completePoll completes polls that need no look-up, and has prefetch complete the others.
func (p *pollSuppressor) completePoll(ctx context.Context, ask *asynqx.Poll) error {
	lane := queue.Lane(ask.Queue)
	message, found, wait := p.prefetch.popKept(lane)
	switch {
	case found:
		return ask.Give(message)
	case wait || p.idle.sleepPoll(ctx) || p.health.down.Load():
		return ask.Empty()
	}
	err := p.prefetch.fetchTasks(ctx, lane, ask)
	if err == nil {
		p.idle.noteTask()
	}
	return err
}
