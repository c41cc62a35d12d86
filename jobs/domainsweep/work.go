package domainsweep

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/domainverify"
)

// Job has the dependencies of the work.
type Job struct{ Domains *branding.Domains }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work adds the jobs of due domains.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	_, err := j.Domains.Sweep(ctx, func(ctx context.Context, tx *postgres.Tx, c branding.Claimed) error {
		return domainverify.Kind.Add(ctx, tx, domainverify.Args{Domain: c.Domain},
			queue.Dedupe("domain.verify@"+c.Domain.String()))
	})
	return err
}
