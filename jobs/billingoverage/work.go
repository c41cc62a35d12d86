package billingoverage

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	Sync   *sync.Service
	System *postgres.DB
}

// Work sets one agency's quantity, with the job's id as idempotency key. As the platform's job it enqueues jobs for the
// agencies with a wrong quantity, at most one per agency.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if !run.Org.IsZero() {
		return j.Sync.Overage(ctx, run.Org, "ov:"+run.ID.String())
	}

	orgs, err := j.Sync.Overdrawn(ctx)
	if err != nil {
		return err
	}

	for _, org := range orgs {
		err := j.System.Tx(ctx, org, func(tx *postgres.Tx) error {
			return Kind.Add(ctx, tx, Args{}, queue.Dedupe("billing.overage"))
		})
		if err != nil {
			return err
		}
	}

	return nil
}
