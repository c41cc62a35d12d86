package sequenceenroll

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	App        *postgres.DB
	Enrolments *enrolments.Service
	Pace       Pace
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work executes steps until the batch is over, with a pause after each that took less than Pace.Step.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	for end := time.Now().Add(j.Pace.Visit); ; {
		var more bool
		began := time.Now()
		if err := j.App.Tx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
			more, err = j.Enrolments.StepBatch(ctx, tx, run.Args.Batch)
			return err
		}); err != nil {
			return err
		}
		if !more {
			return nil
		}
		if time.Now().After(end) {
			return queue.Snooze(0)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(j.Pace.Step - time.Since(began)):
		}
	}
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
