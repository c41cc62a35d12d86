// Package contactexport writes the files of exports, one part at a time.
package contactexport

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the export.
type Args struct {
	Export id.ID `json:"export"`
}

// Kind is one step of an export. A part of the file, the progress and the job of the next step are one transaction.
var Kind = queue.Define[Args]("contact.export", queue.Options{Lane: queue.Bulk})

// Job has the dependencies of the work.
type Job struct {
	Links string // prefix of links to files
	Log   *slog.Logger
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one step and enqueues the next, until the file is complete.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	w := exports.Work{Base: j.Links}
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
