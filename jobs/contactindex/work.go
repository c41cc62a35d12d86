package contactindex

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the limits of the work.
type Job struct{ Pace wordindex.Pace }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work packs marks of one org and continues its build.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	return wordindex.Sync(ctx, tx, j.Pace)
}

// Watch returns a function that adds a job for each due index.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, func(ctx context.Context) ([]id.ID, error) {
		return wordindex.Due(ctx, system, Key)
	})
}
