package stripeevent

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct{ Events *sync.Service }

// courtesy is how long an event waits for the request that is closing a change.
const courtesy = 2 * time.Second

// Work applies the event. While a change is in flight or the payment processor is unavailable, it waits without
// spending an attempt.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	err := j.Events.Work(ctx, run.Org, run.Args.Event)
	switch {
	case errors.Is(err, sync.ErrLater):
		return queue.Snooze(courtesy)
	case err != nil && billing.Away(err):
		return queue.Snooze(billing.Patience(run.CreatedAt))
	default:
		return err
	}
}
