package tokensweep

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs/tokenrefresh"
)

// Job has the dependencies of the work.
type Job struct{ Refresher *social.Refresher }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work adds the jobs of due grants.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	_, err := j.Refresher.Sweep(ctx, func(ctx context.Context, tx *postgres.Tx, c social.Claim) error {
		tx.Turn(c.Org)
		return tokenrefresh.Kind.Add(ctx, tx, tokenrefresh.Args{Grant: c.Grant, Version: c.Version}, queue.In(c.In))
	})
	return err
}
