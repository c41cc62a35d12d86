// Package billingsettle looks after a change of plan whose process may have died: it asks the payment processor the
// same once more and closes the change.
package billingsettle

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the change, of the job's org.
type Args struct {
	Change id.ID `json:"change"`
}

// After is how long a change is left to the request that began it.
const After = 20 * time.Second

// Kind is added with each change, for the moment when its own request must have ended. While the payment processor is
// away it waits without spending a try.
var Kind = queue.Define[Args]("billing.settle", queue.Options{
	Lane: queue.Critical, MaxAttempts: 100, Timeout: time.Minute,
	Backoff: func(failed int) time.Duration {
		return min(5*time.Second<<min(failed, 10), 10*time.Minute)
	},
})
