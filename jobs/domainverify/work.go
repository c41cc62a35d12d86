package domainverify

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	App     *postgres.DB
	Domains *branding.Domains
	Plans   *plans.Service
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes the check and applies its result in a separate transaction. A newer check invalidates the result, so the
// job may run twice.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var d *branding.Domain
	err := j.App.ReadTx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		d, err = j.Domains.ByID(ctx, tx, run.Args.Domain)
		return err
	})
	if err != nil || d == nil {
		return err
	}

	now, err := j.Plans.Of(ctx, run.Org)
	if err != nil {
		return err
	}

	feature := plans.CustomDomain
	if d.Use == branding.Links {
		feature = plans.TrackingDomain
	}
	if err := run.BeginCall(d.Host); err != nil {
		return err
	}

	look := j.Domains.CheckDNS(ctx, d)
	return j.App.Tx(ctx, run.Org, func(tx *postgres.Tx) error {
		_, err := j.Domains.Apply(ctx, tx, d.ID, look, now.Has(feature))
		return err
	})
}
