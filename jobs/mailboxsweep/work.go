package mailboxsweep

import (
	"context"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/mailboxsync"
)

// most is how many mailboxes one run processes, and mostRead how many it has read; the next run continues.
const (
	most     = 500
	mostRead = 2000
)

// Job has the dependencies of the work.
type Job struct{ App, System *postgres.DB }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes one sweep. A mailbox that a run has claimed and not counted is counted a quarter of an hour later. A
// mailbox that fails does not delay the others.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var due []mailboxes.Due
	err := j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		if _, err = mailboxes.EndHolds(ctx, tx, most); err != nil {
			return err
		}
		due, err = mailboxes.ClaimHealth(ctx, tx, most)
		return err
	})
	if err != nil {
		return err
	}

	errs := []error{j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error { return addReadJobs(ctx, tx) })}
	for _, d := range due {
		err := j.App.Tx(ctx, d.Org, func(tx *postgres.Tx) error { return mailboxes.Judge(ctx, tx, d.Mailbox, nil) })
		if ctx.Err() != nil {
			return fmt.Errorf("judge mailboxes: %w", ctx.Err())
		}
		errs = append(errs, err)
	}

	return errors.Join(errs...)
}

// addReadJobs adds the jobs of the mailboxes that are to be read, in the transaction that claims them.
func addReadJobs(ctx context.Context, tx *postgres.Tx) error {
	due, err := mailboxes.ClaimFolders(ctx, tx, mostRead)
	if err != nil {
		return err
	}
	for _, d := range due {
		if d.Org != tx.Org() {
			tx.Turn(d.Org)
		}
		if err := mailboxsync.Add(ctx, tx, d.Mailbox); err != nil {
			return err
		}
	}
	return nil
}
