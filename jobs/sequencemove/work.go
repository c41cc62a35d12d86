package sequencemove

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// wait is the pause before the next look at enrolments whose email is on its way.
const wait = 5 * time.Second

// Handler returns the kind's handler.
func Handler() queue.Handler {
	return Kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
		left, err := enrolments.StepMove(ctx, tx, run.Args.Move)
		switch {
		case err != nil || left == enrolments.MoveOver:
			return err
		case left == enrolments.MoveWait:
			return Kind.Add(ctx, tx, run.Args, queue.In(wait))
		default:
			return Kind.Add(ctx, tx, run.Args)
		}
	})
}

// stays is the error of a move whose job has stopped.
const stays = "It could not go on. What was done so far stays."

// Hook fails moves with a step that is dead or was dropped. The failure is final.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := enrolments.FailMove(ctx, tx, a.Move, stays)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
		return nil
	}, nil)
}
