package quotaannounce

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Handler returns the kind's handler.
func Handler() queue.Handler { return Kind.HandleTx(announceQuota) }

func announceQuota(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	return events.Announce(ctx, tx, events.QuotaReached{Quota: run.Args})
}
