package worker

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// pollApart is how long a lane that was found empty is taken for empty by every server of this process. In the lane of
// webhooks, whose servers ask the most often, it is pollIdle while nothing came there for idleAfter.
const (
	pollApart = 4 * time.Millisecond
	pollIdle  = 12 * time.Millisecond
	idleAfter = time.Second
)

// callsPending is the webhooks' list of pending tasks.
const callsPending = "asynq:{" + string(queue.Webhooks) + "}:pending"

// polls answers some of asynq's polls itself. A server asks its lanes one after the other, each time and by a script
// each, so where one lane is busy most of what it asks is about the empty ones; and several servers ask the same. So
// a lane that was just found empty is not asked about again for a moment. While Redis is away nothing is: asynq
// would dial for each of its polls, and the relay finds out soon enough.
type polls struct {
	link  *link
	takes *takes
	mu    sync.Mutex
	empty map[string]time.Time // when a lane was last found empty, by its key of pending tasks
	came  time.Time            // when the last task came in the lane of webhooks
}

func newPolls(l *link, t *takes) *polls {
	return &polls{link: l, takes: t, empty: map[string]time.Time{}}
}

// DialHook passes on.
func (p *polls) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook passes on: asynq polls without pipelines.
func (p *polls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook answers polls that need no asking, and learns from the others.
func (p *polls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		lane, is := polled(cmd)
		if !is {
			return next(ctx, cmd)
		}
		message, found, wait := p.takes.pop(lane)
		if script, is := cmd.(*redis.Cmd); found && is {
			script.SetVal(message)
			return nil
		}
		if wait || p.link.isDown() || p.lately(lane) {
			cmd.SetErr(redis.Nil)
			return redis.Nil
		}
		short, err := p.takes.take(ctx, lane, cmd, next)
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

func (p *polls) lately(lane string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	apart := pollApart
	if lane == callsPending && time.Since(p.came) > idleAfter {
		apart = pollIdle
	}
	return time.Since(p.empty[lane]) < apart
}

// polled tells whether cmd is asynq's script that takes a pending task, and of which lane: it is the only one whose
// four keys begin with the lane's pending and paused.
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
