package segmentsync

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job is the work.
type Job struct {
	Pace segments.Pace
}

// Handler is the kind with its work.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work does one run.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, _ *queue.Run[Args]) error {
	return segments.Sync(ctx, tx, j.Pace)
}
