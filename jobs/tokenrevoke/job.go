// Package tokenrevoke revokes a login at its provider: a pending login that expired before accounts were chosen, or a
// login without accounts.
package tokenrevoke

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a pending login of the job's org. If it no longer exists, its accounts were chosen.
type Args struct {
	Pending id.ID `json:"pending"`
}

// Kind is a call-out kind. Ten attempts span about a day. After that the tokens are erased anyway, and the org's audit
// log records that the login was not revoked at its provider.
var Kind = queue.Define[Args]("token.revoke", queue.Options{
	Lane: queue.Critical, MaxAttempts: 10, Timeout: time.Minute,
	Backoff: func(failed int) time.Duration {
		return queue.Jitter(min(5*time.Second<<min(2*failed, 20), 6*time.Hour), 0.2)
	},
})
