package leadrescore

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// step is how many contacts one transaction scores. Their scores stay locked until the transaction ends.
const step = 1000

// Job scores with the current model.
type Job struct{}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work scores the next contacts and enqueues the step after them.
func (Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	used, err := models.Held(ctx, tx)
	if err != nil || models.Name(used.Number) != run.Args.Version {
		return err
	}

	tell, last, err := contacts.RescoreAfter(ctx, tx, run.Args.After, step, used.Model.Rate, scoring.Moved)
	if err != nil {
		return err
	}
	if err := leadscore.TellAll(ctx, tx, tell); err != nil {
		return err
	}
	if last == (id.ID{}) {
		return nil
	}

	return Kind.Add(ctx, tx, Args{Version: run.Args.Version, After: last})
}
