package scoretrain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/jobs/leadrescore"
)

// Job trains models. System is for the nightly scan of all orgs.
type Job struct {
	App, System *postgres.DB
}

// Handlers returns the kinds' handlers.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.Handle(j.Work), Night.Handle(j.Ask)}
}

// enough reports whether there are enough new outcomes for another training: a tenth more, or any for the first
// training.
func enough(now, trained int) bool {
	return now > 0 && (trained == 0 || now-trained >= max(1, trained/10))
}

// Work trains a model and writes the version in the transaction that ends the run.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	view := func(fn func(*postgres.Tx) error) error { return j.App.ReadTx(ctx, run.Org, fn) }
	if !run.Args.Anyway {
		var grown bool
		if err := view(func(tx *postgres.Tx) error {
			now, trained, err := models.Grown(ctx, tx)
			grown = enough(now, trained)
			return err
		}); err != nil || !grown {
			return err
		}
	}
	learned, err := models.Learn(ctx, view)
	if err != nil {
		return err
	}
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		v, err := learned.Save(ctx, tx)
		if err != nil || v == nil {
			return err
		}
		return promoted(ctx, tx, v)
	})
	return nil
}

// promoted announces a version that came into use and enqueues the rescoring of all contacts.
func promoted(ctx context.Context, tx *postgres.Tx, v *models.Version) error {
	if err := events.Announce(ctx, tx, events.ScoreModelTrained{Model: v.Told()}); err != nil {
		return err
	}
	return leadrescore.Kind.Add(ctx, tx, leadrescore.Args{Version: models.Name(v.Number)})
}

// newsSQL selects the orgs with a deal that was closed since the org's last training, or that became 90 days old since
// then.
const newsSQL = `
SELECT DISTINCT d.org_id FROM deal d LEFT JOIN score_current c ON c.org_id = d.org_id
WHERE d.closed_at > coalesce(c.trained_at, '-infinity') OR d.status = 'open'
AND d.created_at < now() - interval '90 days'
	AND d.created_at > coalesce(c.trained_at, '-infinity') - interval '90 days'
ORDER BY 1`

// Ask enqueues one training per org, unless one is already waiting.
func (j Job) Ask(ctx context.Context, _ *queue.Run[NightArgs]) error {
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
			return Kind.Add(ctx, tx, Args{}, queue.Dedupe("score.train"))
		}); err != nil {
			return fmt.Errorf("enqueue training: %w", err)
		}
	}
	return nil
}
