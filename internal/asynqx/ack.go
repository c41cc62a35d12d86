package asynqx

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/batch"
)

// Limits of an AckBatcher.
const (
	ackBatchSize    = 128              // scripts per pipeline
	ackBatchTimeout = 5 * time.Second  // per pipeline
	ackQueueCap     = 4 * ackBatchSize // queued scripts; more are sent without batching
)

// AckBatcher sends asynq's acknowledgement scripts in pipelines. Runs end in bursts, because their completions share
// statements, and each script would otherwise need a round trip and a connection. Scripts that arrive while a pipeline
// is in flight share the next one; a lone script is sent at once.
type AckBatcher struct {
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

// NewAckBatcher returns an AckBatcher for the servers that use c.
func NewAckBatcher(c redis.UniversalClient) *AckBatcher {
	b := &AckBatcher{
		redis: c, asks: make(chan *ackCall, ackQueueCap),
		crowd: batch.Batcher[*ackCall]{
			Interval: batch.Interval, FlushSize: batch.FlushSize,
			MaxSize: ackBatchSize,
		},
	}
	c.AddHook(scriptHook(b.process))
	return b
}

// Run sends batches until ctx ends. Before and after it every script is sent without batching.
func (b *AckBatcher) Run(ctx context.Context) {
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
func (b *AckBatcher) send(ctx context.Context, first *ackCall) {
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

// process batches the scripts that acknowledge a task.
func (b *AckBatcher) process(ctx context.Context, script *redis.Cmd, next redis.ProcessHook) error {
	if script.Name() != "evalsha" || !acknowledges(script) {
		return next(ctx, script)
	}
	a := &ackCall{cmd: redis.NewCmd(ctx, slices.Clone(script.Args())...), answer: make(chan struct{})}
	if !b.ask(a) {
		return next(ctx, script)
	}
	select {
	case <-a.answer:
	case <-ctx.Done():
		script.SetErr(ctx.Err())
		return ctx.Err()
	}
	val, err := a.cmd.Result()
	script.SetErr(err)
	script.SetVal(val)
	return err
}

// ask enqueues a and reports whether the batcher accepted it.
func (b *AckBatcher) ask(a *ackCall) bool {
	b.mu.RLock() // Run closes only after pending calls of ask
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
