package contactindexsweep

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/refold"
	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies and limits of the work.
type Job struct {
	System *postgres.DB
	App    *postgres.DB // one org at a time
	Pace   wordindex.Pace
	Refold *refold.Refolder // nil: nothing is refolded
	Large  int              // contacts from which an org gets an index
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes indexes due, creates missing ones, and fills columns of indexes that rows of before lack. A repeated sweep
// changes nothing.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if err := wordindex.SweepMarks(ctx, j.System, j.Pace.Marks); err != nil {
		return err
	}
	var unfolded error // of some orgs; it keeps nothing else from being done
	if j.Refold != nil {
		unfolded = j.Refold.Sweep(ctx, run.Args.Orgs)
	}
	if !run.Args.Orgs {
		return unfolded
	}
	if err := contacts.FillStages(ctx, j.System, j.App); err != nil {
		return err
	}
	return errors.Join(unfolded, wordindex.SweepOrgs(ctx, j.System, j.Large))
}
