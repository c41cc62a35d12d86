package dispatch

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/asynqx"
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
func newTask(r queue.Ref) asynqx.Task {
	return asynqx.Task{
		Task: asynq.NewTask(r.Kind, Task{ID: r.ID, Org: r.Org}.encodePayload()), Options: []asynq.Option{
			asynq.TaskID(r.TaskID()), asynq.Queue(string(r.Lane)), asynq.MaxRetry(r.MaxAttempts),
			asynq.Timeout(taskTimeout),
		},
	}
}

// Enqueuer adds jobs to asynq. It is safe for concurrent use.
type Enqueuer struct{ client *asynqx.Client }

// NewEnqueuer returns an Enqueuer that uses c. It adds a hook to c that affects only this Enqueuer's commands.
func NewEnqueuer(c redis.UniversalClient) *Enqueuer { return &Enqueuer{asynqx.NewClient(c)} }

// Enqueue returns one error per ref: nil, asynq.ErrTaskIDConflict if a task with that ID exists in any state, or an
// error of Redis. Several refs share one pipeline.
func (e *Enqueuer) Enqueue(ctx context.Context, refs ...queue.Ref) []error {
	tasks := make([]asynqx.Task, len(refs))
	for i, r := range refs {
		tasks[i] = newTask(r)
	}
	return e.client.Enqueue(ctx, tasks...)
}
