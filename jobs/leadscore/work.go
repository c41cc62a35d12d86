package leadscore

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// Job scores with the org's current model.
type Job struct {
	// Model is the one in use in tx's org; models.Book's In.
	Model func(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error)
}

// Handler is the kind with its work.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Handlers are Handler, and Many with the same work.
func (j Job) Handlers() []queue.Handler { return []queue.Handler{j.Handler(), Many.HandleTx(j.Work)} }

// Work scores the contacts. One that is archived or gone meanwhile needs no score.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	model, err := j.Model(ctx, tx)
	if err != nil {
		return err
	}
	tell, err := contacts.Rescore(ctx, tx, run.Args.Contacts, model.Rate, scoring.Moved)
	if err != nil {
		return err
	}
	for i := range tell {
		if err := events.Announce(ctx, tx, events.ContactScoreChanged{Contact: tell[i].Contact, Previous: tell[i].Previous}); err != nil {
			return err
		}
	}
	return nil
}

// AskMany asks for the scoring of contacts that background work has changed, as many to a job as one takes.
func AskMany(ctx context.Context, tx *postgres.Tx, ids []id.ID) error {
	for _, args := range (Args{Contacts: ids}).Split() {
		if err := Many.Add(ctx, tx, args); err != nil {
			return err
		}
	}
	return nil
}

// Settle does what a job would for contacts that background work has changed in tx, and scored as it did so.
func Settle(ctx context.Context, tx *postgres.Tx, changed []contacts.Change) error {
	tell, err := contacts.RecordChanged(ctx, tx, changed, scoring.Moved)
	if err != nil {
		return err
	}
	return TellAll(ctx, tx, tell)
}

// TellAll announces scores that have moved, by the hundred.
func TellAll(ctx context.Context, tx *postgres.Tx, tell []contacts.Change) error {
	told := make([]events.Event, len(tell))
	for i := range tell {
		told[i] = events.ContactScoreChanged{Contact: tell[i].Contact, Previous: tell[i].Previous}
	}
	return events.AnnounceAll(ctx, tx, told)
}
