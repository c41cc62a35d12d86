package dispatch

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// taskTimeout is asynq's timeout for tasks. The worker has its own timeouts; asynq's would free the slot of a run that
// is still going.
const taskTimeout = 24 * time.Hour

// newTask returns a job as an asynq task. It does not use Retention, Unique, Group or ProcessIn, which would keep,
// merge or delay tasks; Postgres alone decides that.
//
// It is not a method of Ref, because the types of a method are compiled into each package that uses its receiver, and
// asynq's types reach all of go-redis: 1600 functions in each of sixty packages.
func newTask(r queue.Ref) (*asynq.Task, []asynq.Option) {
	return asynq.NewTask(r.Kind, Task{ID: r.ID, Org: r.Org}.payload()), []asynq.Option{
		asynq.TaskID(r.TaskID()), asynq.Queue(string(r.Lane)), asynq.MaxRetry(r.MaxAttempts),
		asynq.Timeout(taskTimeout),
	}
}

// Enqueuer adds tasks to asynq. It is safe for concurrent use.
type Enqueuer struct {
	redis redis.UniversalClient
	asynq *asynq.Client
}

// NewEnqueuer returns an Enqueuer that uses c. It adds a hook to c that affects only this Enqueuer's commands.
func NewEnqueuer(c redis.UniversalClient) *Enqueuer {
	c.AddHook(collect{})
	return &Enqueuer{redis: c, asynq: asynq.NewClientFromRedisClient(c)}
}

// Enqueue returns one error per ref: nil, asynq.ErrTaskIDConflict if a task with that ID exists in any state, or an
// error of Redis. Several refs share one pipeline. asynq v0.26 has no batch call, so a hook collects its commands, and
// Enqueue sends them together.
func (e *Enqueuer) Enqueue(ctx context.Context, refs ...queue.Ref) []error {
	if len(refs) == 1 {
		return []error{e.one(ctx, refs[0])}
	}
	out := make([]error, len(refs))
	var kept collected
	var of []int // index in refs of each collected command
	keeping := context.WithValue(ctx, collectKey{}, &kept)
	for i, r := range refs {
		out[i] = e.one(keeping, r)
		for len(of) < len(kept.args) {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return out
	}
	pipe := e.redis.Pipeline()
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
		case err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT"):
			err = e.one(ctx, refs[of[i]]) // also loads the script for the next call
		}
		out[of[i]] = err
	}
	return out
}

func (e *Enqueuer) one(ctx context.Context, r queue.Ref) error {
	task, opts := newTask(r)
	_, err := e.asynq.EnqueueContext(ctx, task, opts...)
	return err
}

type collectKey struct{}

type collected struct{ args [][]any }

// collect is a hook. It holds back the scripts of a context with a *collected and returns "added" for each.
type collect struct{}

func (collect) DialHook(next redis.DialHook) redis.DialHook { return next }

func (collect) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (collect) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		kept, ok := ctx.Value(collectKey{}).(*collected)
		script, is := cmd.(*redis.Cmd)
		if !ok || !is || cmd.Name() != "evalsha" {
			return next(ctx, cmd)
		}
		kept.args = append(kept.args, slices.Clone(cmd.Args()))
		script.SetVal(int64(1))
		return nil
	}
}
