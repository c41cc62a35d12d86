package contactimportundo

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/leadscoremany"
)

// Job has the dependencies of the work.
type Job struct{ Import contactimport.Job }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one step and enqueues the next, until the undo is over.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	w, err := j.Import.Steps(ctx, tx)
	if err != nil {
		return err
	}
	return j.Import.Step(ctx, tx, run, Kind, func() (bool, error) {
		done, err := w.UndoStep(ctx, tx, run.Args.Import)
		if err == nil {
			err = askForScores(ctx, tx, done.Changed)
		}
		return done.More, err
	}, func() error { return imports.FailUndo(ctx, tx, run.Args.Import) })
}

// Hook fails undos with a next step that is dead or was dropped. The failure is final: a later run of that step finds
// nothing to do.
func Hook() queue.Hook { return Kind.Hook(contactimport.Failing(imports.FailUndo), nil) }

// askForScores enqueues the scoring of contacts that an undo has restored, because the model may have changed.
func askForScores(ctx context.Context, tx *postgres.Tx, changed []contacts.Change) error {
	var ids []id.ID
	for i := range changed {
		if scoring.Differs(changed[i].Before(), &changed[i].Contact) {
			ids = append(ids, changed[i].ID)
		}
	}
	return leadscoremany.Enqueue(ctx, tx, ids)
}
