// Package adaccountsync looks which accounts a login reaches and what they are called: ad accounts once a day, and those
// that have tokens of their own, such as Facebook's pages, whenever the login's token was renewed.
package adaccountsync

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name a grant of the job's org.
type Args struct {
	Grant id.ID `json:"grant"`
}

// Kind asks a provider about one login. A day later it is asked again, so that a provider that is away costs nothing but the day.
var Kind = queue.Define[Args]("adaccounts.sync", queue.Options{Lane: queue.Bulk, MaxAttempts: 5, Timeout: 2 * time.Minute, Backoff: func(failed int) time.Duration {
	return queue.Jitter(time.Duration(failed)*15*time.Minute, 0.3)
}})

// Ask asks, in tx, for a look at the accounts of a grant now. It has no dedupe key: a look that waits for its hour, or
// that goes on, may be with a token of before.
func Ask(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
	return Kind.Add(ctx, tx, Args{Grant: grant})
}

// DailyArgs are none: the job is the platform's own.
type DailyArgs struct{}

// Daily adds a job for every login at an ad platform, spread over some hours, and tells of the logins that end.
var Daily = queue.Define[DailyArgs]("adaccounts.daily", queue.Options{Lane: queue.Bulk, Timeout: 10 * time.Minute})
