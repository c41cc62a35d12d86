package contactbulk

import (
	"context"
	"errors"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
	"github.com/funnelwork/funnelwork/jobs/leadscoremany"
)

// Job has the dependencies of the work.
type Job struct {
	App    *postgres.DB
	Plans  *plans.Catalogue
	Scores *models.Book
	Pace   Pace
	Part   int // contacts per step; 0: the default
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work executes steps until the change is over, with a pause after each step.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	for end := time.Now().Add(j.Pace.Visit); ; {
		var at bulk.Stage
		began := time.Now()
		err := j.App.Tx(ctx, run.Org, func(tx *postgres.Tx) error {
			model, err := j.Scores.In(ctx, tx)
			if err != nil {
				return err
			}
			w := bulk.Worker{Rate: model.Rate, Room: j.planRoom, Score: scoreChanged, Part: j.Part}
			at, err = w.Step(ctx, tx, run.Args.Bulk)
			return err
		})
		switch {
		case err != nil:
			return j.markFailed(run, err)
		case at == bulk.Over:
			return nil
		case at == bulk.Wait:
			return queue.Snooze(j.Pace.Wait)
		case time.Now().After(end):
			return queue.Snooze(0)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(j.Pace.Rest * float64(time.Since(began)))):
		}
	}
}

// stays is the message of a failed change.
const stays = "It could not go on. What was done so far stays."

// markFailed returns err. After the last attempt it also marks the change as failed.
func (j Job) markFailed(run *queue.Run[Args], err error) error {
	if run.Last() && !errors.Is(err, context.Canceled) {
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
			return bulk.Fail(ctx, tx, run.Args.Bulk, stays)
		})
	}
	return err
}

// planRoom returns how many contacts the org's plan allows to restore. The commit enforces the limit.
func (j Job) planRoom(ctx context.Context, tx *postgres.Tx) (*contacts.Room, error) {
	space, err := j.Plans.Room(ctx, tx, plans.Contacts)
	return &contacts.Room{Left: space.Left, Full: space.Full}, err
}

// scoreChanged records the scores of changed contacts and enqueues the scoring of restored contacts, because the model
// may have changed since they were archived.
func scoreChanged(ctx context.Context, tx *postgres.Tx, all []contacts.Change) error {
	var back []id.ID
	var changed []contacts.Change
	for i := range all {
		switch _, moved := all[i].Previous["archived_at"]; {
		case !moved:
			changed = append(changed, all[i])
		case all[i].ArchivedAt == nil:
			back = append(back, all[i].ID)
		}
	}
	if err := leadscoremany.Enqueue(ctx, tx, back); err != nil {
		return err
	}
	return leadscore.Settle(ctx, tx, changed)
}

// Hook fails changes with a job that is dead or was dropped. The failure is final: the org's next change begins, and a
// later run of the old job finds nothing to do.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			if err := bulk.Fail(ctx, tx, a.Bulk, stays); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
