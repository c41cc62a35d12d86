// Package billingprorationsync reconciles our copy of the billing data with the payment processor's: it fetches missed
// events from the processor's event list, and it reads every subscription.
package billingprorationsync

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is the extent of the comparison.
type Args struct {
	Whole bool `json:"whole"` // every subscription, not only missed events and ended periods
}

// Kind is a platform job, enqueued by the timetable. An interrupted run resumes.
var Kind = queue.Define[Args]("billing.sync",
	queue.Options{MaxAttempts: 5, Timeout: 2 * time.Hour, Alias: "billing.proration_sync"})
