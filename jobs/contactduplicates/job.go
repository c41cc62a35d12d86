// Package contactduplicates searches an org's contacts for possible duplicates of the same person.
package contactduplicates

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the org is the job's.
type Args struct{}

// Kind reads outside of any writing transaction, which would delay others for the seconds that it takes, and writes its
// findings in the transaction that ends the job.
var Kind = queue.Define[Args]("contact.duplicates",
	queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 3 * time.Minute})

// Ask returns the options for enqueueing a search. A waiting search makes another one unnecessary.
func (Args) Ask() queue.Adding { return queue.Dedupe("contact.duplicates") }

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
