package webhookdeliver

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Hook keeps deliveries true to their jobs: one whose job is dead or was dropped is exhausted, and one whose job an
// operator runs again has another try planned.
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
