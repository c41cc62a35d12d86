package scoretrain

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/jobs/leadrescore"
)

// Job trains models.
type Job struct{ Reads *standby.Reader }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// hasEnough reports whether there are enough new outcomes for another training: a tenth more, or any for the first
// training.
func hasEnough(now, trained int) bool {
	return now > 0 && (trained == 0 || now-trained >= max(1, trained/10))
}

// Work trains a model and writes the version in the transaction that ends the run.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	view := func(fn func(*postgres.Tx) error) error {
		return j.Reads.For(standby.Training).ReadFresh(ctx, run.Org, fn)
	}
	if !run.Args.Anyway {
		var grown bool
		if err := view(func(tx *postgres.Tx) error {
			now, trained, err := models.Grown(ctx, tx)
			grown = hasEnough(now, trained)
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
		if err == nil {
			err = models.EndTrainings(ctx, tx, false)
		}
		if err != nil || v == nil {
			return err
		}
		return announceModel(ctx, tx, v)
	})
	return nil
}

// announceModel announces a version that came into use and enqueues the rescoring of all contacts.
func announceModel(ctx context.Context, tx *postgres.Tx, v *models.Version) error {
	if err := events.Announce(ctx, tx, events.ScoreModelTrained{Model: v.Told()}); err != nil {
		return err
	}
	return leadrescore.Kind.Add(ctx, tx, leadrescore.Args{Version: models.Name(v.Number)})
}

// Hook fails the trainings that users have asked for, if their job is dead or was dropped. A later run completes those
// that are asked for later.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			if a.Anyway {
				return models.EndTrainings(ctx, tx, true)
			}
		}
		return nil
	}, nil)
}
