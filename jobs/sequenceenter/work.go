package sequenceenter

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	Enrolments *enrolments.Service
	Plans      *plans.Service
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work enrols the contacts of the entries that are due. A plan without sequences enrols none: the entries are dropped.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	rights, err := j.Plans.Of(ctx, run.Org)
	if err != nil {
		return err
	}
	return j.Enrolments.Enter(ctx, tx, rights.Has(plans.Sequences))
}

// Watch returns a function that adds a job for each org with entries that are due.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, func(ctx context.Context) ([]id.ID, error) {
		return enrolments.Entered(ctx, system, Key)
	})
}
