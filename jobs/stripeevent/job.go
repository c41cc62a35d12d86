// Package stripeevent works one event of the payment processor: it reads anew what the event is about.
package stripeevent

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the event, of the job's org: the zero org's where its customer is not ours.
type Args struct {
	Event string `json:"event"`
}

// Kind is added in the transaction that stores the event. It may run in any order and any number of times: what counts
// is what the payment processor holds when it runs.
var Kind = queue.Define[Args]("stripe.event", queue.Options{Lane: queue.Critical, MaxAttempts: 15, Timeout: time.Minute})
