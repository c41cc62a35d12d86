package asynqx

import (
	"context"
	"errors"
	"slices"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// Client adds tasks to asynq. It is safe for concurrent use.
type Client struct {
	redis redis.UniversalClient
	asynq *asynq.Client
}

// Task is a task with its options. It must not have the options Unique, Group or ProcessIn, which use other scripts.
type Task struct {
	*asynq.Task
	Options []asynq.Option
}

// NewClient returns a Client that uses c. It adds a hook to c that affects only this Client's commands.
func NewClient(c redis.UniversalClient) *Client {
	c.AddHook(scriptHook(collect))
	return &Client{redis: c, asynq: asynq.NewClientFromRedisClient(c)}
}

// Enqueue returns one error per task: nil, asynq.ErrTaskIDConflict if a task with that ID exists in any state, or an
// error of Redis. Several tasks share one pipeline. asynq v0.26 has no batch call, so a hook collects its commands, and
// Enqueue sends them together.
func (c *Client) Enqueue(ctx context.Context, tasks ...Task) []error {
	if len(tasks) == 1 {
		return []error{c.one(ctx, tasks[0])}
	}
	out := make([]error, len(tasks))
	var kept collected
	var of []int // index in tasks of each collected command
	keeping := context.WithValue(ctx, collectKey{}, &kept)
	for i, t := range tasks {
		out[i] = c.one(keeping, t)
		for len(of) < len(kept.args) {
			of = append(of, i)
		}
	}
	pipe := c.redis.Pipeline()
	cmds := make([]*redis.Cmd, len(of))
	for i, args := range kept.args {
		cmds[i] = pipe.Do(ctx, args...)
	}
	_, _ = pipe.Exec(ctx) // errors are per command
	for i, cmd := range cmds {
		added, err := cmd.Int()
		switch {
		case err == nil && added == 0:
			err = asynq.ErrTaskIDConflict
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			err = c.one(ctx, tasks[of[i]]) // also loads the script for the next call
		}
		out[of[i]] = err
	}
	return out
}

func (c *Client) one(ctx context.Context, t Task) error {
	_, err := c.asynq.EnqueueContext(ctx, t.Task, t.Options...)
	return err
}

type collectKey struct{}

type collected struct{ args [][]any }

// collect holds back the scripts of a context with a *collected and returns "added" for each.
func collect(ctx context.Context, script *redis.Cmd, next redis.ProcessHook) error {
	kept, ok := ctx.Value(collectKey{}).(*collected)
	if !ok || script.Name() != "evalsha" {
		return next(ctx, script)
	}
	kept.args = append(kept.args, slices.Clone(script.Args()))
	script.SetVal(int64(1))
	return nil
}

// States returns the state of each of the tasks of a queue, "" if the task does not exist. It reads the field directly
// because asynq's inspector costs a round trip per task, takes no context, and fails on incomplete entries.
func (c *Client) States(ctx context.Context, keys []string) ([]string, error) {
	pipe := c.redis.Pipeline()
	cmds := make([]*redis.StringCmd, len(keys))
	for i, k := range keys {
		cmds[i] = pipe.HGet(ctx, k, "state")
	}
	_, _ = pipe.Exec(ctx) // errors are per command
	out := make([]string, len(keys))
	for i, cmd := range cmds {
		state, err := cmd.Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		out[i] = state
	}
	return out, nil
}
