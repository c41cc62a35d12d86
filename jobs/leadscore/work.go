package leadscore

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// Job scores with the org's current model.
type Job struct {
	// Model returns the current model of tx's org. It is models.Book's In.
	Model func(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error)
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work scores the contacts. It skips contacts that were archived or deleted meanwhile.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	model, err := j.Model(ctx, tx)
	if err != nil {
		return err
	}

	tell, err := contacts.Rescore(ctx, tx, run.Args.Contacts, model.Rate, scoring.Moved, scoring.Fades)
	if err != nil {
		return err
	}

	for i := range tell {
		if err := events.Announce(ctx, tx,
			events.ContactScoreChanged{Contact: tell[i].Contact, Previous: tell[i].Previous}); err != nil {
			return err
		}
	}

	return nil
}

// Settle records history and announces moved scores for contacts that background work has changed and scored in tx.
func Settle(ctx context.Context, tx *postgres.Tx, changed []contacts.Change) error {
	tell, err := contacts.RecordChanged(ctx, tx, changed, scoring.Moved)
	if err != nil {
		return err
	}
	return TellAll(ctx, tx, tell)
}

// TellAll announces moved scores, for many contacts at once.
func TellAll(ctx context.Context, tx *postgres.Tx, tell []contacts.Change) error {
	told := make([]events.Event, len(tell))
	for i := range tell {
		told[i] = events.ContactScoreChanged{Contact: tell[i].Contact, Previous: tell[i].Previous}
	}
	return events.AnnounceAll(ctx, tx, told)
}
