// Package billingsettle completes a change of plan if its process may have died: it repeats the same call to the
// payment processor and closes the change.
package billingsettle

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a change of the job's org.
type Args struct {
	Change id.ID `json:"change"`
}

// After is how long the request that began a change has to complete it.
const After = 20 * time.Second

// Kind is added with each change and becomes due when the change's request must have ended. While the payment processor
// is unavailable it waits without spending an attempt.
var Kind = queue.Define[Args]("billing.settle", queue.Options{
	Lane: queue.Critical, MaxAttempts: 100, Timeout: time.Minute,
	Backoff: func(failed int) time.Duration {
		return min(5*time.Second<<min(failed, 10), 10*time.Minute)
	},
})
