package contactindex

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies and limits of the two kinds.
type Job struct {
	System *postgres.DB
	Pace   wordindex.Pace
	Large  int // contacts from which an org gets an index
}

// Handlers returns the handlers of both kinds.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.HandleTx(j.Work), Sweep.Handle(j.Sweep)}
}

// Work packs marks of one org and continues its build.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	return wordindex.Sync(ctx, tx, j.Pace)
}

// Sweep makes indexes due, and creates missing ones. A repeated sweep changes nothing.
func (j Job) Sweep(ctx context.Context, run *queue.Run[SweepArgs]) error {
	if err := wordindex.SweepMarks(ctx, j.System, j.Pace.Marks); err != nil || !run.Args.Orgs {
		return err
	}
	return wordindex.SweepOrgs(ctx, j.System, j.Large)
}

// Watch polls for due indexes.
type Watch struct {
	App, System *postgres.DB
}

// Look adds a job for each due index without an open job. The job has its own concurrency key, so that it does not wait
// behind the org's other work.
func (w Watch) Look(ctx context.Context) error {
	orgs, err := wordindex.Due(ctx, w.System, Key)
	if err != nil {
		return err
	}
	for _, org := range orgs {
		if err := w.App.Tx(ctx, org, func(tx *postgres.Tx) error {
			return Kind.Add(ctx, tx, Args{}, queue.Dedupe(Key), queue.ConcurrencyKey(org))
		}); err != nil {
			return fmt.Errorf("add index job: %w", err)
		}
	}
	return nil
}
