package worker

import (
	"context"
	"errors"

	"github.com/hibiken/asynq"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// underItsName is the answer to a delivery, err, but for one that would list a dead job under a name that is no
// longer its own: a task that was left behind, as one that seemed not to deliver, and did after all. It vanishes. A
// dead job is listed under its present name, by that name's delivery or by the relay.
func (w *Worker) underItsName(ctx context.Context, t *asynq.Task, err error) error {
	if _, lists := errors.AsType[archive](err); !lists {
		return err
	}
	task, unread := queue.ReadTask(t.Payload())
	name, known := asynq.GetTaskID(ctx)
	if unread != nil || !known {
		return err
	}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), statement)
	defer cancel()
	present, unread := w.ledger.TaskOfDead(reading, task.Org, task.ID)
	if unread != nil || present == "" || present == name { // what is listed twice all the same goes with the sweep
		return err
	}
	return nil
}
