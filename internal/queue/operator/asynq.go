package operator

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// askAsynq is how long an action waits for a ping before it leaves Redis to the relay.
const askAsynq = time.Second

// mayNotify reports whether there are rows to bring to asynq and Redis responds. Without this check a client with long
// retries would delay the action while Redis is down.
func (o *Operator) mayNotify(ctx context.Context, rows int) bool {
	if rows == 0 || o.redis == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askAsynq)
	defer cancel()
	return o.redis.Ping(ctx).Err() == nil
}

// enqueueRows makes asynq deliver the jobs that T12 made due. Paused jobs stay in Postgres.
func (o *Operator) enqueueRows(ctx context.Context, rows []touched) {
	if !o.mayNotify(ctx, len(rows)) {
		return
	}
	var refs []queue.Ref
	for _, r := range rows {
		if r.due {
			refs = append(refs, r.Ref)
		}
	}
	_, _ = o.dispatcher.Push(ctx, refs...) // on an error the relay pushes them within a second
}

// archiveTasks archives the tasks of the jobs that T13 made dead. A task that is being delivered misses its claim and
// is archived then.
func (o *Operator) archiveTasks(ctx context.Context, rows []touched) {
	o.eachTask(ctx, rows, func(r queue.Ref, state string) error {
		if state == "archived" || state == "active" {
			return nil
		}
		return o.inspect.ArchiveTask(string(r.Lane), r.TaskID())
	})
}

// deleteTasks deletes the tasks of the jobs that T14 deleted. A task that is being delivered misses its claim and
// vanishes.
func (o *Operator) deleteTasks(ctx context.Context, rows []touched) {
	o.eachTask(ctx, rows, func(r queue.Ref, state string) error {
		if state == "active" {
			return nil
		}
		return o.inspect.DeleteTask(string(r.Lane), r.TaskID())
	})
}

// eachTask calls do for the rows with a task in asynq. The relay or the sweep repairs whatever fails.
func (o *Operator) eachTask(ctx context.Context, rows []touched, do func(r queue.Ref, state string) error) {
	if !o.mayNotify(ctx, len(rows)) {
		return
	}
	refs := make([]queue.Ref, len(rows))
	for i, r := range rows {
		refs[i] = r.Ref
	}
	states, err := o.dispatcher.States(ctx, refs)
	if err != nil {
		return
	}
	for i, state := range states {
		if state == "" {
			continue
		}
		if err := do(refs[i], state); err != nil && !o.mayNotify(ctx, 1) {
			return
		}
	}
}
