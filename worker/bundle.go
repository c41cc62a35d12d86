package worker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Bounds of what goes to Redis together.
const (
	bundleMost = 128             // scripts in one pipeline
	bundleTime = 5 * time.Second // for one pipeline
	bundleRoom = 4 * bundleMost  // scripts that wait; further ones go by themselves
)

// bundles sends the scripts by which asynq ends its tasks in pipelines: runs end in crowds, as their verdicts share
// statements, and each would take a round trip, and a connection, of its own. What comes while a pipeline is on its way
// shares the next one, and a lone script goes at once.
type bundles struct {
	redis redis.UniversalClient
	asks  chan *bundled
	crowd queue.Crowd[*bundled]
	mu    sync.RWMutex
	open  bool
}

// bundled is one script, as a command of its own: whoever asked for it may have left when its answer comes.
type bundled struct {
	cmd    *redis.Cmd
	answer chan struct{} // closed when cmd has its answer
}

func newBundles(c redis.UniversalClient) *bundles {
	return &bundles{redis: c, asks: make(chan *bundled, bundleRoom), crowd: queue.Crowd[*bundled]{Gap: queue.CrowdGap, Enough: queue.CrowdEnough, Most: bundleMost}}
}

// run works until ctx ends; before and after it every script goes by itself.
func (b *bundles) run(ctx context.Context) {
	b.mu.Lock()
	b.open = true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.open = false
		b.mu.Unlock()
		for len(b.asks) > 0 {
			b.send(context.WithoutCancel(ctx), <-b.asks)
		}
	}()
	for {
		select {
		case a := <-b.asks:
			b.send(context.WithoutCancel(ctx), a)
		case <-ctx.Done():
			return
		}
	}
}

// send sends first and what else is waiting.
func (b *bundles) send(ctx context.Context, first *bundled) {
	load := b.crowd.Gather(nil, first, b.asks)
	ctx, cancel := context.WithTimeout(ctx, bundleTime)
	defer cancel()
	pipe := b.redis.Pipeline()
	for _, a := range load {
		_ = pipe.Process(ctx, a.cmd)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for _, a := range load {
		close(a.answer)
	}
}

// DialHook passes on.
func (b *bundles) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook passes on.
func (b *bundles) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook takes scripts that end a task.
func (b *bundles) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		script, is := cmd.(*redis.Cmd)
		if !is || !endsTask(cmd) {
			return next(ctx, cmd)
		}
		a := &bundled{cmd: redis.NewCmd(ctx, slices.Clone(cmd.Args())...), answer: make(chan struct{})}
		if !b.ask(a) {
			return next(ctx, cmd)
		}
		select {
		case <-a.answer:
		case <-ctx.Done():
			cmd.SetErr(ctx.Err())
			return ctx.Err()
		}
		val, err := a.cmd.Result()
		if err != nil {
			cmd.SetErr(err)
			return err
		}
		script.SetVal(val)
		return nil
	}
}

// ask hands a over, if somebody takes it.
func (b *bundles) ask(a *bundled) bool {
	b.mu.RLock() // the bundler leaves after whoever is here
	defer b.mu.RUnlock()
	if !b.open {
		return false
	}
	select {
	case b.asks <- a:
		return true
	default:
		return false
	}
}

// endsTask tells whether cmd is asynq's script for a task that is done: the only one whose first two keys are a lane's
// active tasks and their leases, and the third a task.
func endsTask(cmd redis.Cmder) bool {
	if cmd.Name() != "evalsha" {
		return false
	}
	args := cmd.Args() // evalsha, script, number of keys, keys, arguments
	if len(args) < 8 {
		return false
	}
	for i, part := range []string{":active", ":lease"} {
		if key, ok := args[3+i].(string); !ok || !strings.HasSuffix(key, part) {
			return false
		}
	}
	task, ok := args[5].(string)
	return ok && strings.Contains(task, "}:t:")
}
