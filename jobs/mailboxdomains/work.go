package mailboxdomains

import (
	"context"
	"slices"
	"sync"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

const (
	most     = 200 // mailboxes of one run; the run of the next minute continues
	parallel = 8   // look-ups at the same time
)

// Job has the dependencies of the work.
type Job struct {
	System *postgres.DB
	// Records looks up the records of a domain.
	Records func(ctx context.Context, domain string) branding.MailRecords
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work looks up the domains that are due, each once, however many mailboxes it has.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var domains []string
	err := j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		domains, err = mailboxes.ClaimDomains(ctx, tx, most)
		return err
	})
	if err != nil {
		return err
	}

	slices.Sort(domains)
	domains = slices.Compact(domains)
	found := j.lookUpRecords(ctx, domains)
	if len(domains) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}

	return j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		for i, domain := range domains {
			mailboxes.SetDomain(tx, domain, found[i].SPF, found[i].DKIM, found[i].DMARC)
		}
		return nil
	})
}

// lookUpRecords returns the records of each domain.
func (j Job) lookUpRecords(ctx context.Context, domains []string) []branding.MailRecords {
	found := make([]branding.MailRecords, len(domains))
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i, domain := range domains {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			found[i] = j.Records(ctx, domain)
		})
	}
	all.Wait()
	return found
}
