package leadfade

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/leadscoremany"
)

// load is how many contacts one run finds. The next run finds further ones.
const load = 10_000

// Job has the dependencies of the work.
type Job struct{ System *postgres.DB }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work enqueues the scoring of the contacts. A repeated run enqueues it again, which changes nothing.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	found, err := contacts.Faded(ctx, j.System, load)
	if err != nil {
		return err
	}
	for org, ids := range found {
		if err := j.System.Tx(ctx, org, func(tx *postgres.Tx) error {
			return leadscoremany.Enqueue(ctx, tx, ids)
		}); err != nil {
			return fmt.Errorf("enqueue scoring: %w", err)
		}
	}
	return nil
}
