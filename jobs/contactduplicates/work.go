package contactduplicates

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct{ App *postgres.DB }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work searches, and writes its findings in the transaction that ends the run.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var found duplicates.Found
	if err := j.App.ReadTx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		found, err = duplicates.Search(ctx, tx)
		return err
	}); err != nil {
		return err
	}
	run.Effect(func(_ context.Context, tx *postgres.Tx) error {
		found.Save(tx)
		return nil
	})
	return nil
}
