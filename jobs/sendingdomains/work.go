package sendingdomains

import (
	"context"
	"errors"
	"sync"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

const (
	most     = 200 // domains of one run; the run of the next minute continues
	parallel = 8   // look-ups at the same time
)

// Job has the dependencies of the work.
type Job struct {
	App, System *postgres.DB
	Domains     *orgsending.Domains
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work looks up the domains that are due. A domain whose result could not be stored is due again in a few minutes.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var due []orgsending.Claimed
	err := j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		due, err = orgsending.Claim(ctx, tx, most)
		return err
	})
	if err != nil {
		return err
	}

	failures := make([]error, len(due))
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i, c := range due {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			failures[i] = j.checkDomain(ctx, c)
		})
	}

	all.Wait()
	return errors.Join(failures...)
}

// checkDomain makes the check of one domain. A domain that was removed meanwhile is not checked.
func (j Job) checkDomain(ctx context.Context, c orgsending.Claimed) error {
	var d *orgsending.Domain
	err := j.App.ReadTx(ctx, c.Org, func(tx *postgres.Tx) (err error) {
		d, err = orgsending.GetDomain(ctx, tx, c.Domain)
		return err
	})
	if err == nil {
		check := j.Domains.Check(ctx, d)
		err = j.App.Tx(ctx, c.Org, func(tx *postgres.Tx) error {
			change, err := j.Domains.Apply(ctx, tx, c.Domain, check)
			if err == nil {
				auditChange(ctx, tx, change)
			}
			return err
		})
	}
	if fault.Is(err, fault.NotFound) {
		return nil
	}

	return err
}

// auditChange writes an entry for a domain whose status has changed.
func auditChange(ctx context.Context, tx *postgres.Tx, c *orgsending.Change) {
	if c.Status != c.Was {
		org.Audit(ctx, tx, org.Entry{
			Action: "sending_domain." + c.Status, Target: "sending_domain", ID: c.ID.String(),
			Detail: map[string]any{"domain": c.Name, "from": c.Was},
		})
	}
}
