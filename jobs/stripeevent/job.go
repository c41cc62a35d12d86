// Package stripeevent processes one event of the payment processor: it fetches the current state of the event's object.
package stripeevent

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies an event of the job's org. The org is zero if the event's customer is not ours.
type Args struct {
	Event string `json:"event"`
}

// Kind is added in the transaction that stores the event. It may run in any order and any number of times, because it
// applies the payment processor's state at the time of the run.
var Kind = queue.Define[Args]("stripe.event",
	queue.Options{Lane: queue.Critical, MaxAttempts: 15, Timeout: time.Minute})
