package billingsettle

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct{ Changes *change.Service }

// Work completes the change if it is still in flight.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	err := j.Changes.Recover(ctx, run.Org, run.Args.Change)
	if err != nil && billing.Away(err) {
		return queue.Snooze(billing.Patience(run.CreatedAt))
	}
	return err
}
