// Package adaccountssync reads which accounts a login can reach and their names. It reads ad accounts once a day.
// Accounts with their own tokens, such as Facebook pages, it reads whenever the login's token was renewed.
package adaccountssync

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a grant of the job's org.
type Args struct {
	Grant id.ID `json:"grant"`
}

// Kind reads the accounts of one login from its provider. It runs again a day later, so an unavailable provider costs
// at most a day.
var Kind = queue.Define[Args]("adaccounts.sync", queue.Options{
	Lane: queue.Remote, MaxAttempts: 5, Timeout: 2 * time.Minute,
	Backoff: func(failed int) time.Duration {
		return queue.Jitter(time.Duration(failed)*15*time.Minute, 0.3)
	},
})

// Ask enqueues, in tx, a sync of a grant's accounts now. It uses no dedupe key, because a waiting or running sync may
// use an older token.
func Ask(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
	return Kind.Add(ctx, tx, Args{Grant: grant})
}
