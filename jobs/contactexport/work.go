package contactexport

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	Links string // prefix of links to files
	Log   *slog.Logger
	// Reads reads the contacts. Nil: they are read in the transaction of the step.
	Reads *standby.Reader
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one step and enqueues the next, until the file is complete.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	w := exports.Work{Base: j.Links}
	if j.Reads != nil {
		w.Read = j.Reads.For(standby.Export).Instead
	}
	err := tx.Savepoint(ctx, func() error {
		more, err := w.Step(ctx, tx, run.Args.Export)
		if err != nil || !more {
			return err
		}
		return Kind.Add(ctx, tx, run.Args)
	})
	if err == nil || !run.Last() {
		return err
	}

	j.Log.ErrorContext(ctx, "export failed", "export", run.Args.Export.String(), "error", err)
	if err := w.Fail(ctx, tx, run.Args.Export); err != nil {
		return fmt.Errorf("fail export: %w", err)
	}

	return nil
}

// Hook fails exports with a next step that is dead or was dropped. The failure is final: their parts are erased, and a
// later run of that step finds nothing to do. links is the prefix of links to files.
func Hook(links string) queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := exports.Work{Base: links}.Fail(ctx, tx, a.Export)
			if err != nil && !fault.Is(err, fault.NotFound) { // the export may have expired
				return err
			}
		}
		return nil
	}, nil)
}
