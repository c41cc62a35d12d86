package inboundmail

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct{ Inbound *inbound.Service }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work processes the message.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	return j.Inbound.Process(ctx, tx, run.Args.Message)
}
