package mailboxsync

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/inbound/imapsync"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct{ Syncer *imapsync.Syncer }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes one run.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	result, err := j.Syncer.Run(ctx, run.Org, run.Args.Mailbox, run.BeginCall)
	if err != nil {
		return err
	}
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return result.Write(ctx, tx) })
	return nil
}
