package webhookreplay

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Hook stops replays with a next step that is dead or was dropped, so that later replays continue. It resumes a replay
// if an operator runs that step again.
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
