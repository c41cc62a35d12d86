// Package inboundmail processes an incoming mail: it reads it, says what it is, finds the email that it is about, and
// writes what follows from it. All of this is rows, so a mail is processed exactly once.
package inboundmail

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
)

// Args identifies the message.
type Args struct {
	Message id.ID `json:"message"`
}

// Kind processes one message. A mail that cannot be read does not exist, so a failure is one of the database.
var Kind = queue.Define[Args]("inbound.mail", queue.Options{MaxAttempts: 12, Timeout: time.Minute})

// Intake returns the service that takes mails and enqueues their jobs. db has the App role.
func Intake(db *postgres.DB, box *secret.Sealer) *inbound.Service {
	return &inbound.Service{
		DB: db, Box: box, Suppressions: &suppression.Service{Box: box},
		Enqueue: func(ctx context.Context, tx *postgres.Tx, message id.ID) error {
			return Kind.Add(ctx, tx, Args{Message: message})
		},
		Rescore: func(ctx context.Context, tx *postgres.Tx, contact id.ID) error {
			return leadscore.Kind.Add(ctx, tx, leadscore.Args{Contacts: []id.ID{contact}})
		},
	}
}
