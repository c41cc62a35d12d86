package contactimport

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
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

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work executes one step and enqueues the next, until the import is over.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	w, err := j.Steps(ctx, tx)
	if err != nil {
		return err
	}
	return j.Step(ctx, tx, run, Kind, func() (bool, error) {
		done, err := w.Step(ctx, tx, run.Args.Import)
		if err == nil {
			err = leadscore.Settle(ctx, tx, done.Changed)
		}
		return done.More, err
	}, func() error { return w.Fail(ctx, tx, run.Args.Import) })
}

// Steps returns the work of the steps of imports and undos.
func (j Job) Steps(ctx context.Context, tx *postgres.Tx) (imports.Work, error) {
	model, err := j.Model(ctx, tx)
	if err != nil {
		return imports.Work{}, err
	}
	return imports.Work{
		Rate: model.Rate, Base: j.Links, Companies: findCompanies,
		Room: func(ctx context.Context, tx *postgres.Tx) (*contacts.Room, error) {
			space, err := j.Plans.Room(ctx, tx, plans.Contacts)
			return &contacts.Room{Left: space.Left, Full: space.Full}, err
		},
	}, nil
}

// findCompanies returns the companies that texts name. If makes, it creates the others, and announces them unless their
// events are suppressed.
func findCompanies(ctx context.Context, tx *postgres.Tx, texts []string, makes, suppress bool) (
	map[string]id.ID, error,
) {
	if !makes {
		return companies.Named(ctx, tx, texts)
	}
	found, made, err := companies.NamedOrMade(ctx, tx, texts)
	if err != nil || suppress {
		return found, err
	}
	var all []events.Event
	for i := range made {
		all = append(all, companies.Events(&made[i])...)
	}
	return found, events.AnnounceAll(ctx, tx, all)
}

// Step executes one step of an import or undo and enqueues the next. After the last attempt it marks the import as
// failed; the job does not become dead.
func (j Job) Step(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args], next queue.Kind[Args],
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

// Hook fails imports with a next step that is dead or was dropped. The failure is final: the waiting rows are erased,
// and a later run of that step finds nothing to do. links is the prefix of links to files.
func Hook(links string) queue.Hook { return Kind.Hook(Failing(imports.Work{Base: links}.Fail), nil) }

// Failing returns the function of a hook that fails the imports of the jobs.
func Failing(fail func(context.Context, *postgres.Tx, id.ID) error) func(context.Context, *postgres.Tx, []Args) error {
	return func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			err := fail(ctx, tx, a.Import)
			if err != nil && !fault.Is(err, fault.NotFound) { // the import may have expired
				return err
			}
		}
		return nil
	}
}
