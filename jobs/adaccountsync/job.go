// Package adaccountsync looks once a day which ad accounts a login reaches and what they are called.
package adaccountsync

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
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

// DailyArgs are none: the job is the platform's own.
type DailyArgs struct{}

// Daily adds a job for every login at an ad platform, spread over some hours, and tells of the logins that end.
var Daily = queue.Define[DailyArgs]("adaccounts.daily", queue.Options{Lane: queue.Bulk, Timeout: 10 * time.Minute})
