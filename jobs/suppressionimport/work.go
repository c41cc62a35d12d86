package suppressionimport

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/suppression/imports"
)

// Job has the dependencies of the work.
type Job struct {
	Suppressions *suppression.Service
	Log          *slog.Logger
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one step and enqueues the next, until the import is over. After the last attempt it marks the import as
// failed; the job does not become dead.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	err := tx.Savepoint(ctx, func() error {
		more, err := imports.Step(ctx, tx, j.Suppressions, run.Args.Import)
		if err == nil && more {
			err = Kind.Add(ctx, tx, run.Args)
		}
		if err != nil {
			return err
		}
		return tx.Flush(ctx)
	})
	if err == nil || !run.Last() {
		return err
	}

	j.Log.ErrorContext(ctx, "import of suppressions failed", "import", run.Args.Import.String(), "error", err)
	if err := imports.Fail(ctx, tx, run.Args.Import); err != nil {
		return fmt.Errorf("fail import: %w", err)
	}

	return nil
}

// Hook fails imports with a next step that is dead or was dropped. The failure is final: the waiting rows are erased,
// and a later run of that step finds nothing to do.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := imports.Fail(ctx, tx, a.Import)
			if err != nil && !fault.Is(err, fault.NotFound) { // the import may have expired
				return err
			}
		}
		return nil
	}, nil)
}
