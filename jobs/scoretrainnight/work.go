package scoretrainnight

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
)

// Job has the dependencies of the work.
type Job struct{ System *postgres.DB }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// newsSQL selects the orgs with a deal that was closed since the org's last training, or that became 90 days old since
// then.
const newsSQL = `
SELECT DISTINCT d.org_id FROM deal d LEFT JOIN score_current c ON c.org_id = d.org_id
WHERE d.closed_at > coalesce(c.trained_at, '-infinity') OR d.status = 'open'
AND d.created_at < now() - interval '90 days'
	AND d.created_at > coalesce(c.trained_at, '-infinity') - interval '90 days'
ORDER BY 1`

// Work enqueues one training per org, unless one is already waiting.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var orgs []id.ID
	if err := j.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, newsSQL)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	}); err != nil {
		return fmt.Errorf("find orgs with new outcomes: %w", err)
	}

	for _, org := range orgs {
		if err := j.System.Tx(ctx, org, func(tx *postgres.Tx) error {
			return scoretrain.Kind.Add(ctx, tx, scoretrain.Args{}, queue.Dedupe("score.train"))
		}); err != nil {
			return fmt.Errorf("enqueue training: %w", err)
		}
	}

	return nil
}
