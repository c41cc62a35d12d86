package domainverify

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job is what the work needs.
type Job struct {
	App     *postgres.DB
	Domains *branding.Domains
	Plans   *plans.Service
}

// Handlers ties the job to its kinds.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.Handle(j.Work), Sweep.Handle(j.Sweep)}
}

// Work looks, and lets what it saw take effect in a transaction of its own: another look that is newer makes it void, so
// that it may be doubled.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var d *branding.Domain
	err := j.App.View(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		d, err = j.Domains.Get(ctx, tx)
		return err
	})
	if err != nil || d == nil || d.ID != run.Args.Domain {
		return err
	}
	now, err := j.Plans.Of(ctx, run.Org)
	if err != nil {
		return err
	}
	look := j.Domains.Look(ctx, d)
	return j.App.Tx(ctx, run.Org, func(tx *postgres.Tx) error {
		_, err := j.Domains.Apply(ctx, tx, d.ID, look, now.Has(plans.CustomDomain))
		return err
	})
}

// Sweep adds the jobs of what is due.
func (j Job) Sweep(ctx context.Context, _ *queue.Run[SweepArgs]) error {
	_, err := j.Domains.Sweep(ctx, func(ctx context.Context, tx *postgres.Tx, c branding.Claimed) error {
		return Kind.Add(ctx, tx, Args{Domain: c.Domain}, queue.Dedupe("domain.verify@"+c.Domain.String()))
	})
	return err
}
