// Package segmentsync keeps the memberships of dynamic segments current; how, and why nothing is missed, is told by
// internal/contacts/segments.
//
// # Who asks for it
//
// Nobody who changes a contact: they leave marks, which wait for nobody. A writer that added a job with a dedupe key
// would wait for every other that adds the same, until its commit, and hold its contacts meanwhile. So each worker looks for
// orgs that have marks (Watch) and adds the job in a transaction of its own. One that finds the job open leaves it at
// that: should that job have read the marks already, the next look finds what is left.
package segmentsync

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are empty: the job does whatever its org has waiting.
type Args struct{}

// Kind is one run for one org. Its effects are rows alone: each difference is written and told exactly once.
var Kind = queue.Define[Args]("segment.sync", queue.Options{Lane: queue.Default, MaxAttempts: 12})

// Key lets an org have one open job.
const Key = "segment.sync"

// Watch finds work.
type Watch struct {
	App, System *postgres.DB
}

// Look asks for a job for each org that waits for one. The job is in a line of its own, so that it does not queue
// up behind the org's other work.
func (w Watch) Look(ctx context.Context) error {
	orgs, err := segments.Waiting(ctx, w.System, Key)
	if err != nil {
		return err
	}
	for _, org := range orgs {
		if err := w.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			return Kind.Add(ctx, tx, Args{}, queue.Dedupe(Key), queue.Line(org))
		}); err != nil {
			return fmt.Errorf("ask for a sync: %w", err)
		}
	}
	return nil
}
