package contactimport

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/jobs/contactundo"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// Job has the dependencies of the work.
type Job struct {
	Plans *plans.Catalogue
	// Model returns the current model of tx's org. It is models.Book's In.
	Model func(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error)
	Links string // prefix of links to files
	Log   *slog.Logger
}

// Handlers returns the kinds' handlers.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.HandleTx(j.Work), contactundo.Kind.HandleTx(j.WorkUndo)}
}

// Work executes one step and enqueues the next, until the import is over.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	w, err := j.steps(ctx, tx)
	if err != nil {
		return err
	}
	return j.step(ctx, tx, run, Kind, func() (bool, error) {
		done, err := w.Step(ctx, tx, run.Args.Import)
		if err == nil {
			err = leadscore.Settle(ctx, tx, done.Changed)
		}
		return done.More, err
	}, func() error { return w.Fail(ctx, tx, run.Args.Import) })
}

// WorkUndo is Work for an undo.
func (j Job) WorkUndo(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	w, err := j.steps(ctx, tx)
	if err != nil {
		return err
	}
	return j.step(ctx, tx, run, contactundo.Kind, func() (bool, error) {
		done, err := w.UndoStep(ctx, tx, run.Args.Import)
		if err == nil {
			err = askForScores(ctx, tx, done.Changed)
		}
		return done.More, err
	}, func() error { return imports.FailUndo(ctx, tx, run.Args.Import) })
}

func (j Job) steps(ctx context.Context, tx *postgres.Tx) (imports.Work, error) {
	model, err := j.Model(ctx, tx)
	if err != nil {
		return imports.Work{}, err
	}
	return imports.Work{
		Rate: model.Rate, Base: j.Links,
		Room: func(ctx context.Context, tx *postgres.Tx) (*contacts.Room, error) {
			space, err := j.Plans.Room(ctx, tx, plans.Contacts)
			return &contacts.Room{Left: space.Left, Full: space.Full}, err
		},
	}, nil
}

// step executes one step and enqueues the next. After the last attempt it marks the import as failed; the job does not
// become dead.
func (j Job) step(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args], next queue.Kind[Args],
	work func() (more bool, err error), fail func() error,
) error {
	err := tx.Savepoint(ctx, func() error {
		more, err := work()
		if err != nil {
			return err
		}
		if more {
			if err := next.Add(ctx, tx, run.Args); err != nil {
				return err
			}
		}
		// Check the plan's limit here: a refusal by the commit could not be handled any more.
		tx.Queue(`SET CONSTRAINTS ALL IMMEDIATE`)
		return tx.Flush(ctx)
	})
	if err == nil || !run.Last() {
		return err
	}
	j.Log.ErrorContext(ctx, "import failed", "import", run.Args.Import.String(), "error", err)
	if err := fail(); err != nil {
		return fmt.Errorf("fail import: %w", err)
	}
	return nil
}

// askForScores enqueues the scoring of contacts that an undo has restored, because the model may have changed.
func askForScores(ctx context.Context, tx *postgres.Tx, changed []contacts.Change) error {
	var ids []id.ID
	for i := range changed {
		if scoring.Differs(changed[i].Before(), &changed[i].Contact) {
			ids = append(ids, changed[i].ID)
		}
	}
	return leadscore.AskMany(ctx, tx, ids)
}
