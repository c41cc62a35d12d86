package worker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/batch"
)

// Limits of the ackBatcher.
const (
	ackBatchSize    = 128              // scripts per pipeline
	ackBatchTimeout = 5 * time.Second  // per pipeline
	ackQueueCap     = 4 * ackBatchSize // queued scripts; more are sent without batching
)

// ackBatcher sends asynq's acknowledgement scripts in pipelines. Runs end in bursts, because their completions share
// statements, and each script would otherwise need a round trip and a connection. Scripts that arrive while a pipeline
// is in flight share the next one; a lone script is sent at once.
type ackBatcher struct {
	redis redis.UniversalClient
	asks  chan *ackCall
	crowd batch.Batcher[*ackCall]
	mu    sync.RWMutex
	open  bool
}

// ackCall is one script. It has its own command, because the caller may have given up when the reply arrives.
type ackCall struct {
	cmd    *redis.Cmd
	answer chan struct{} // closed when cmd has its reply
}

func newAckBatcher(c redis.UniversalClient) *ackBatcher {
	return &ackBatcher{
		redis: c, asks: make(chan *ackCall, ackQueueCap),
		crowd: batch.Batcher[*ackCall]{
			Interval: batch.Interval, FlushSize: batch.FlushSize,
			MaxSize: ackBatchSize,
		},
	}
}

// run sends batches until ctx ends. Before and after it every script is sent without batching.
func (b *ackBatcher) run(ctx context.Context) {
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

// send sends first and the other queued scripts.
func (b *ackBatcher) send(ctx context.Context, first *ackCall) {
	load := b.crowd.Collect(nil, first, b.asks)
	ctx, cancel := context.WithTimeout(ctx, ackBatchTimeout)
	defer cancel()
	pipe := b.redis.Pipeline()
	for _, a := range load {
		_ = pipe.Process(ctx, a.cmd)
	}
	_, _ = pipe.Exec(ctx) // errors are per command
	for _, a := range load {
		close(a.answer)
	}
}

// DialHook does nothing.
func (b *ackBatcher) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook does nothing.
func (b *ackBatcher) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook batches the scripts that acknowledge a task.
func (b *ackBatcher) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		script, is := cmd.(*redis.Cmd)
		if !is || !endsTask(cmd) {
			return next(ctx, cmd)
		}
		a := &ackCall{cmd: redis.NewCmd(ctx, slices.Clone(cmd.Args())...), answer: make(chan struct{})}
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

// ask enqueues a and reports whether the batcher accepted it.
func (b *ackBatcher) ask(a *ackCall) bool {
	b.mu.RLock() // run closes only after pending calls of ask
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

// endsTask reports whether cmd is asynq's script that acknowledges a finished task: the only script with a lane's
// active list, the lane's leases and a task as its first three keys.
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
