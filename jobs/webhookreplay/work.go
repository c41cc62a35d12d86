package webhookreplay

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Job executes replays.
type Job struct {
	Hooks *webhooks.Service
	Pace  Pace
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one step and enqueues the next, until the replay is over.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	made, over, err := j.Hooks.Walk(ctx, tx, run.Args.Replay, j.Pace.Open)
	if err != nil || over {
		return err
	}
	wait := j.Pace.Every
	if made == 0 {
		wait = j.Pace.Full
	}
	return Kind.Add(ctx, tx, run.Args, queue.In(wait))
}

// Hook stops replays with a next step that is dead or was dropped, so that later replays continue. It resumes a replay
// if an operator runs that step again.
func Hook() queue.Hook {
	return Kind.Hook(replayWriter(webhooks.StopReplays), replayWriter(webhooks.ReviveReplays))
}

func replayWriter(write func(*postgres.Tx, []id.ID)) func(context.Context, *postgres.Tx, []Args) error {
	return func(_ context.Context, tx *postgres.Tx, all []Args) error {
		ids := make([]id.ID, len(all))
		for i, a := range all {
			ids[i] = a.Replay
		}
		write(tx, ids)
		return nil
	}
}
