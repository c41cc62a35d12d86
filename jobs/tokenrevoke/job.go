// Package tokenrevoke ends a login at its provider: one whose accounts nobody chose in time, or one on which no account
// hangs any more.
package tokenrevoke

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name a pending login of the job's org. Where there is none any more, it was chosen from.
type Args struct {
	Pending id.ID `json:"pending"`
}

// Kind calls out. Ten tries span about a day; then the tokens are erased all the same, and the org's log says that the
// provider was not told.
var Kind = queue.Define[Args]("token.revoke", queue.Options{
	Lane: queue.Critical, MaxAttempts: 10, Timeout: time.Minute,
	Backoff: func(failed int) time.Duration {
		return queue.Jitter(min(5*time.Second<<min(2*failed, 20), 6*time.Hour), 0.2)
	},
})
