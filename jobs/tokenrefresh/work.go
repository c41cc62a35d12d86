package tokenrefresh

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
)

// tooLong is a wait that outlasts the claim. The next claim of the grant adds another job.
const tooLong = time.Minute

// Job has the dependencies of the work.
type Job struct{ Refresher *social.Refresher }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes one attempt. If the budget is used up, it waits without spending an attempt.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if platform, err := j.Refresher.Platform(ctx, run.Org, run.Args.Grant); err == nil { // Refresh returns its error
		if err := run.BeginCall(platform); err != nil {
			return err
		}
	}
	_, err := j.Refresher.Refresh(ctx, social.Claim{Org: run.Org, Grant: run.Args.Grant, Version: run.Args.Version})
	var wait social.WaitError
	switch {
	case errors.As(err, &wait) && wait.For > tooLong:
		return nil
	case errors.As(err, &wait):
		return queue.Snooze(wait.For)
	default:
		return err
	}
}
