package leadscore

import (
	"bytes"
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
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

// Work scores the contacts, in the order of their ids, so that two jobs wait for each other in one direction only.
// One that is archived or gone meanwhile needs no score.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	model, err := j.Model(ctx, tx)
	if err != nil {
		return err
	}
	ids := slices.Clone(run.Args.Contacts)
	slices.SortFunc(ids, func(a, b id.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, i := range slices.Compact(ids) {
		ch, err := contacts.Rescore(ctx, tx, i, model.Rate, scoring.Moved)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if ch.Changed() {
			if err := events.Announce(ctx, tx, events.ContactScoreChanged{Contact: ch.Contact, Previous: ch.Previous}); err != nil {
				return err
			}
		}
	}
	return nil
}
