package webhookdeliver

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Hook keeps deliveries consistent with their jobs: a delivery is exhausted when its job is dead or was dropped, and
// has another attempt planned when an operator runs its job again.
func Hook() queue.Hook {
	return Kind.Hook(deliveries(webhooks.Stopped), deliveries(webhooks.Revived))
}

func deliveries(write func(*postgres.Tx, []id.ID)) func(context.Context, *postgres.Tx, []Args) error {
	return func(_ context.Context, tx *postgres.Tx, all []Args) error {
		ids := make([]id.ID, len(all))
		for i, a := range all {
			ids[i] = a.Delivery
		}
		write(tx, ids)
		return nil
	}
}
