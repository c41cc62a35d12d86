package billingsettle

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job is what the work needs.
type Job struct{ Billing *billing.Service }

// Work closes the change, if it is still in flight.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	err := j.Billing.Recover(ctx, run.Org, run.Args.Change)
	if err != nil && billing.Away(err) {
		return queue.Snooze(billing.Patience(run.CreatedAt))
	}
	return err
}
