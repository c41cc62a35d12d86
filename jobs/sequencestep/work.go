package sequencestep

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// Handler returns the kind's handler. It sets Send and Changed of the engine.
func Handler(e *enrolments.Engine) queue.Handler {
	e.Send = enqueueEmail
	e.Changed = recordScores
	return Kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
		return e.Tick(ctx, tx)
	})
}

// enqueueEmail enqueues the job of an email.
func enqueueEmail(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error {
	return emailsendbulk.Kind.Add(ctx, tx, emailsendbulk.Args{Email: email}, queue.ConcurrencyKey(mailbox))
}

// recordScores records the scores of changed contacts.
func recordScores(ctx context.Context, tx *postgres.Tx, all []contacts.Change) error {
	return leadscore.Settle(ctx, tx, all)
}

// Watch returns a function that adds a job for each org with groups that are due.
func Watch(app, system *postgres.DB) func(context.Context) error {
	return Kind.Watch(app, Key, func(ctx context.Context) ([]id.ID, error) {
		return enrolments.Waiting(ctx, system, Key)
	})
}
