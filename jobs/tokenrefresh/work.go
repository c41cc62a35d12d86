package tokenrefresh

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
)

// tooLong is a wait that outlasts the claim. The next claim of the grant adds another job.
const tooLong = time.Minute

// Job has the dependencies of the work.
type Job struct{ Refresher *social.Refresher }

// Handlers returns the kinds' handlers.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.Handle(j.Work), Sweep.Handle(j.Sweep)}
}

// Work makes one attempt. If the budget is used up, it waits without spending an attempt.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
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

// Sweep adds the jobs of due grants.
func (j Job) Sweep(ctx context.Context, _ *queue.Run[SweepArgs]) error {
	_, err := j.Refresher.Sweep(ctx, func(ctx context.Context, tx *postgres.Tx, c social.Claim) error {
		tx.Turn(c.Org)
		return Kind.Add(ctx, tx, Args{Grant: c.Grant, Version: c.Version}, queue.At(c.At))
	})
	return err
}
