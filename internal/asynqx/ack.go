package asynqx

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/batch"
)

// Limits of batched acknowledgements.
const (
	ackBatchSize    = 128              // scripts per pipeline
	ackBatchTimeout = 5 * time.Second  // per pipeline
	ackQueueCap     = 4 * ackBatchSize // queued scripts; more are sent without batching
)

// BatchAcks lets the servers that use c send their acknowledgement scripts in pipelines. Runs end in bursts, because
// their completions share statements, and each script would otherwise need a round trip and a connection.
func BatchAcks(c redis.UniversalClient) {
	acks := batch.New(batch.Options[*redis.Cmd]{
		Interval: batch.Interval, FlushSize: batch.FlushSize, Most: ackBatchSize, Queued: ackQueueCap,
		Timeout: ackBatchTimeout, Send: func(ctx context.Context, scripts []*redis.Cmd) error {
			pipe := c.Pipeline()
			for _, script := range scripts {
				_ = pipe.Process(ctx, script)
			}
			_, _ = pipe.Exec(ctx) // errors are per command
			return nil
		},
	})
	c.AddHook(scriptHook(func(ctx context.Context, script *redis.Cmd, next redis.ProcessHook) error {
		if script.Name() != "evalsha" || !acknowledges(script) {
			return next(ctx, script)
		}
		// The batch has its own command, because the caller may have given up when the reply arrives.
		own := redis.NewCmd(ctx, slices.Clone(script.Args())...)
		err := acks.Do(ctx, own)
		switch {
		case errors.Is(err, batch.ErrRefused):
			return next(ctx, script)
		case err == nil:
			script.SetVal(own.Val())
			err = own.Err()
		}
		script.SetErr(err)
		return err
	}))
}
