package worker

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// pollApart is how long all servers of this process treat a lane as empty after one of them found it empty. The servers
// of the webhooks lane poll the most often; after callsIdle without a task that lane uses pollIdle instead.
const (
	pollApart = 4 * time.Millisecond
	pollIdle  = 12 * time.Millisecond
	callsIdle = time.Second
)

// callsPending is the key of the webhooks lane's pending list.
const callsPending = "asynq:{" + string(queue.Webhooks) + "}:pending"

// pollSuppressor completes some of asynq's polls without asking Redis. A server polls each of its lanes in turn with
// one script each, so while one lane is busy most polls concern empty lanes, and several servers repeat the same polls.
// A lane that was just found empty is therefore not polled again for a moment. While Redis is down no lane is polled:
// asynq would dial for every poll, and the relay detects the recovery soon enough.
type pollSuppressor struct {
	link  *redisHealth
	takes *prefetch
	idle  *idleLanes
	mu    sync.Mutex
	empty map[string]time.Time // when a lane was last found empty, by pending key
	came  time.Time            // when the webhooks lane last had a task
}

func newPollSuppressor(l *redisHealth, t *prefetch, idle *idleLanes) *pollSuppressor {
	return &pollSuppressor{link: l, takes: t, idle: idle, empty: map[string]time.Time{}}
}

// DialHook does nothing.
func (p *pollSuppressor) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook does nothing, because asynq polls without pipelines.
func (p *pollSuppressor) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook completes polls that need no look-up, and records the results of the others.
func (p *pollSuppressor) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		lane, is := polled(cmd)
		if !is {
			return next(ctx, cmd)
		}
		message, found, wait := p.takes.pop(lane)
		if !found && !wait && p.idle.sleep(ctx) {
			cmd.SetErr(redis.Nil)
			return redis.Nil
		}
		if script, is := cmd.(*redis.Cmd); found && is {
			script.SetVal(message)
			return nil
		}
		if wait || p.link.isDown() || p.lately(lane) {
			cmd.SetErr(redis.Nil)
			return redis.Nil
		}
		short, err := p.takes.take(ctx, lane, cmd, next)
		if err == nil {
			p.idle.had()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if short {
			p.empty[lane] = time.Now()
		}
		if err == nil && lane == callsPending {
			p.came = time.Now()
		}
		return err
	}
}

func (p *pollSuppressor) lately(lane string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	apart := pollApart
	if lane == callsPending && time.Since(p.came) > callsIdle {
		apart = pollIdle
	}
	return time.Since(p.empty[lane]) < apart
}

// polled reports whether cmd is asynq's script that takes a pending task, and returns the lane's pending key. It is the
// only script with four keys that starts with a lane's pending and paused keys.
func polled(cmd redis.Cmder) (lane string, is bool) {
	if name := cmd.Name(); name != "evalsha" && name != "eval" {
		return "", false
	}
	args := cmd.Args() // evalsha, script, number of keys, keys, arguments
	if len(args) < 7 {
		return "", false
	}
	if n, ok := args[2].(int); !ok || n != 4 {
		return "", false
	}
	pending, ok := args[3].(string)
	if !ok || !strings.HasSuffix(pending, ":pending") {
		return "", false
	}
	paused, ok := args[4].(string)
	return pending, ok && strings.HasSuffix(paused, ":paused")
}
