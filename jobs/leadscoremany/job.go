// Package leadscoremany scores contacts like jobs/leadscore after changes of thousands of contacts.
package leadscoremany

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// Args is the contacts to score.
type Args = leadscore.Args

// Kind is leadscore.Kind in the bulk lane, so that large changes do not delay the scoring of single changes.
var Kind = queue.Define[Args]("lead.score_many", queue.Options{Lane: queue.Bulk})

// Enqueue adds the jobs that score the contacts which background work has changed.
func Enqueue(ctx context.Context, tx *postgres.Tx, ids []id.ID) error {
	for _, args := range (Args{Contacts: ids}).Split() {
		if err := Kind.Add(ctx, tx, args); err != nil {
			return err
		}
	}
	return nil
}
