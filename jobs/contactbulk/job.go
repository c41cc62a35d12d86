// Package contactbulk executes changes of many contacts.
package contactbulk

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a change. Its row holds the request and the progress.
type Args struct {
	Bulk id.ID `json:"bulk"`
}

// Kind is enqueued in the transaction that stores a change. Each step is a separate transaction that locks the change's
// row, so a run may be killed or run twice. The attempts outlast a long outage of Postgres.
var Kind = queue.Define[Args]("contact.bulk", queue.Options{
	Lane: queue.Bulk, MaxAttempts: 50, Timeout: time.Minute,
	Backoff: func(int) time.Duration { return queue.Jitter(2*time.Second, 0.2) },
})

// Pace is the speed of changes.
type Pace struct {
	Visit time.Duration // how long a run keeps its slot
	Rest  float64       // pause between two steps, as a fraction of the step's time
	Wait  time.Duration // interval of checks for the end of the previous change
}

// Usual returns the default pace, which leaves a quarter of the time to other work.
func Usual() Pace { return Pace{Visit: 10 * time.Second, Rest: 0.35, Wait: time.Second} }
