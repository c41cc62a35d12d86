// Package contactduplicates searches an org's contacts for those that may be the same person.
package contactduplicates

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none: the org is the job's.
type Args struct{}

// Kind reads outside of any writing transaction, which would hold back others for the seconds that it takes, and writes what it has found
// with the job's end.
var Kind = queue.Define[Args]("contact.duplicates", queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 3 * time.Minute})

// Ask is how a search is asked for: one that waits already is enough.
func (Args) Ask() queue.Adding { return queue.Dedupe("contact.duplicates") }

// Job searches.
type Job struct{ App *postgres.DB }

// Handler is the kind with its work.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work searches and leaves what it has found to the transaction that ends the run.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var found duplicates.Found
	if err := j.App.View(ctx, run.Org, func(tx *postgres.Tx) (err error) {
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
