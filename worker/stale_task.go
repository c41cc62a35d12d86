package worker

import (
	"context"
	"errors"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
)

// dropStaleTask returns err, the result of a delivery, except if err would archive a dead job under a task ID that is
// no longer the job's current one. Such a stale task was superseded because it seemed not to deliver; it is dropped.
// The delivery of the current task, or the relay, archives the dead job.
func (w *Worker) dropStaleTask(ctx context.Context, t *asynq.Task, err error) error {
	if _, lists := errors.AsType[archiveError](err); !lists {
		return err
	}

	task, unread := dispatch.ReadTask(t.Payload())
	name, known := asynq.GetTaskID(ctx)
	if unread != nil || !known {
		return err
	}

	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), statement)
	defer cancel()
	present, unread := w.store.TaskOfDead(reading, task.Org, task.ID)
	if unread != nil || present == "" || present == name { // the sweep removes remaining duplicates
		return err
	}

	return nil
}
