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

// Job trains. System is for the night's walk over the orgs.
type Job struct {
	App, System *postgres.DB
}

// Handlers are the kinds with their works.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.Handle(j.Work), Night.Handle(j.Ask)}
}

// enough tells whether the outcomes have grown enough for another training: by a tenth, and the first time to anything.
func enough(now, trained int) bool {
	return now > 0 && (trained == 0 || now-trained >= max(1, trained/10))
}

// Work learns, and leaves the version to the transaction that ends the run.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	view := func(fn func(*postgres.Tx) error) error { return j.App.View(ctx, run.Org, fn) }
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

// promoted tells of a version that came into use and has all contacts scored by it.
func promoted(ctx context.Context, tx *postgres.Tx, v *models.Version) error {
	if err := events.Announce(ctx, tx, events.ScoreModelTrained{Model: v.Told()}); err != nil {
		return err
	}
	return leadrescore.Kind.Add(ctx, tx, leadrescore.Args{Version: models.Name(v.Number)})
}

// newsSQL are the orgs with a deal that was closed since the org's last training, or was made 90 days before a moment since then.
const newsSQL = `
SELECT DISTINCT d.org_id FROM deal d LEFT JOIN score_current c ON c.org_id = d.org_id
WHERE d.closed_at > coalesce(c.trained_at, '-infinity') OR d.status = 'open' AND d.created_at < now() - interval '90 days'
	AND d.created_at > coalesce(c.trained_at, '-infinity') - interval '90 days'
ORDER BY 1`

// Ask leaves one training per org; one that is waiting already is enough.
func (j Job) Ask(ctx context.Context, _ *queue.Run[NightArgs]) error {
	var orgs []id.ID
	if err := j.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, newsSQL)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	}); err != nil {
		return fmt.Errorf("find orgs with news: %w", err)
	}
	for _, org := range orgs {
		if err := j.System.Tx(ctx, org, func(tx *postgres.Tx) error {
			return Kind.Add(ctx, tx, Args{}, queue.Dedupe("score.train"))
		}); err != nil {
			return fmt.Errorf("ask for a training: %w", err)
		}
	}
	return nil
}
