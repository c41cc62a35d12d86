package asynqx

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Poll is one attempt of a server to take a queue's next task.
type Poll struct {
	Queue  string
	redis  redis.UniversalClient
	script *redis.Cmd
	next   redis.ProcessHook
}

// OnPoll calls fn with each poll of the servers that use c. fn must end with the result of Empty, Give or Fail.
func OnPoll(c redis.UniversalClient, fn func(ctx context.Context, p *Poll) error) {
	c.AddHook(scriptHook(func(ctx context.Context, script *redis.Cmd, next redis.ProcessHook) error {
		queue, is := takes(script)
		if !is {
			return next(ctx, script)
		}
		return fn(ctx, &Poll{queue, c, script, next})
	}))
}

// Empty completes the poll as if the queue had no task.
func (p *Poll) Empty() error { return p.Fail(redis.Nil) }

// Fail completes the poll with an error.
func (p *Poll) Fail(err error) error {
	p.script.SetErr(err)
	return err
}

// Give completes the poll with a message from Take, of this poll or another one of the queue.
func (p *Poll) Give(message string) error {
	p.script.SetErr(nil)
	p.script.SetVal(message)
	return nil
}

// Take takes up to n tasks of the queue in one round trip, and returns their messages. The error is redis.Nil if there
// is no task. Take may be called once.
func (p *Poll) Take(ctx context.Context, n int) (messages []string, err error) {
	if n == 1 || p.script.Name() != "evalsha" { // a first poll loads the script
		if err := p.next(ctx, p.script); err != nil {
			return nil, err
		}
		message, err := p.script.Text()
		return []string{message}, err
	}
	pipe := p.redis.Pipeline()
	for range n {
		pipe.Do(ctx, p.script.Args()...)
	}
	cmds, _ := pipe.Exec(ctx) // errors are per command
	for _, cmd := range cmds {
		if message, err := cmd.(*redis.Cmd).Text(); err == nil {
			messages = append(messages, message)
		}
	}
	if len(messages) == 0 {
		return nil, cmds[0].Err()
	}
	return messages, nil
}
