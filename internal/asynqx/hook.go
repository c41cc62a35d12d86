package asynqx

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// scriptHook is a redis.Hook for scripts that are sent alone. Other commands and pipelines pass unchanged.
type scriptHook func(ctx context.Context, script *redis.Cmd, next redis.ProcessHook) error

// DialHook does nothing.
func (scriptHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook does nothing, because asynq does not use pipelines.
func (scriptHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook calls h with scripts.
func (h scriptHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		script, is := cmd.(*redis.Cmd)
		if name := cmd.Name(); !is || name != "evalsha" && name != "eval" {
			return next(ctx, cmd)
		}
		return h(ctx, script, next)
	}
}

// keysOf returns the keys of a script: evalsha, script, number of keys, keys, arguments.
func keysOf(script *redis.Cmd) []string {
	args := script.Args()
	if len(args) < 3 {
		return nil
	}
	n, ok := args[2].(int)
	if !ok || n < 0 || n > len(args)-3 {
		return nil
	}
	keys := make([]string, n)
	for i := range keys {
		keys[i], _ = args[3+i].(string)
	}
	return keys
}

// takes returns the queue of the script that takes a pending task. It is the only script with four keys that starts
// with a queue's pending and paused keys.
func takes(script *redis.Cmd) (queue string, is bool) {
	keys := keysOf(script)
	if len(keys) != 4 || !strings.HasSuffix(keys[0], "}:"+Pending) || !strings.HasSuffix(keys[1], "}:"+Paused) {
		return "", false
	}
	_, rest, _ := strings.Cut(keys[0], "{")
	return strings.TrimSuffix(rest, "}:"+Pending), true
}
