package webhookreplay

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Hook stops replays whose next step is dead or was dropped, so that those after them go on, and lets them go on where
// an operator runs that step again.
func Hook() queue.Hook {
	return Kind.Hook(replays(webhooks.StopReplays), replays(webhooks.ReviveReplays))
}

func replays(write func(*postgres.Tx, []id.ID)) func(context.Context, *postgres.Tx, []Args) error {
	return func(_ context.Context, tx *postgres.Tx, all []Args) error {
		ids := make([]id.ID, len(all))
		for i, a := range all {
			ids[i] = a.Replay
		}
		write(tx, ids)
		return nil
	}
}
