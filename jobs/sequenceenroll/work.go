package sequenceenroll

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Handler returns the kind's handler.
func Handler(s *enrolments.Service) queue.Handler {
	return Kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
		more, err := s.StepBatch(ctx, tx, run.Args.Batch)
		if err != nil || !more {
			return err
		}
		return Kind.Add(ctx, tx, run.Args)
	})
}

// stays is the error of a batch whose job has stopped.
const stays = "It could not go on. What was done so far stays."

// Hook fails batches with a step that is dead or was dropped. The failure is final.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := enrolments.FailBatch(ctx, tx, a.Batch, stays)
			if err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
		return nil
	}, nil)
}
