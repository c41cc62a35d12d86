package platformredrive

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
)

const (
	visit = 10 * time.Second       // how long a run keeps its slot
	pace  = 200 * time.Millisecond // between two steps
	rest  = time.Second            // between two runs
)

// Job has the dependencies of the work.
type Job struct {
	Operator *operator.Operator
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work executes steps until the redrive is over, with a rest after every visit.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	for end := time.Now().Add(visit); ; {
		full, more, err := j.Operator.StepRedrive(ctx, run.Args.Redrive)
		if err != nil || !more {
			return err
		}
		if time.Now().After(end) {
			return queue.Snooze(rest)
		}
		if full {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pace):
		}
	}
}
