package plansweep

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// most is how many orgs one run processes; the run of the next minute continues.
const most = 2000

// Job has the dependencies of the work.
type Job struct {
	System *postgres.DB
	Plans  *plans.Catalogue
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work enqueues one settling per org, unless one is already waiting.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var orgs []id.ID
	err := j.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT org_id FROM subscription WHERE plan_version < $1 OR plan_version > $1 LIMIT $2`, j.Plans.Version,
			most)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return fmt.Errorf("find orgs to settle: %w", err)
	}

	for _, org := range orgs {
		err := j.System.Tx(ctx, org, func(tx *postgres.Tx) error {
			return entitlementsync.Kind.Add(ctx, tx, entitlementsync.Args{},
				queue.Dedupe("plan.settle@"+j.Plans.Version))
		})
		if err != nil {
			return fmt.Errorf("enqueue settling: %w", err)
		}
	}

	return nil
}
