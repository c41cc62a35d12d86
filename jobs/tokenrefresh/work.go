package tokenrefresh

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
)

// tooLong is a wait that outlasts a claim: whoever claims the grant after it has another job.
const tooLong = time.Minute

// Job is what the work needs.
type Job struct{ Refresher *social.Refresher }

// Handlers ties the job to its kinds.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.Handle(j.Work), Sweep.Handle(j.Sweep)}
}

// Work makes one attempt. Over its budget it waits, without spending a try.
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

// Sweep adds the jobs of what is due.
func (j Job) Sweep(ctx context.Context, _ *queue.Run[SweepArgs]) error {
	_, err := j.Refresher.Sweep(ctx, func(ctx context.Context, tx *postgres.Tx, c social.Claim) error {
		tx.Turn(c.Org)
		return Kind.Add(ctx, tx, Args{Grant: c.Grant, Version: c.Version}, queue.At(c.At))
	})
	return err
}
