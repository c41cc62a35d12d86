// Package contactbulk does changes of many contacts.
package contactbulk

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the change, whose row holds what is asked for and how far it is.
type Args struct {
	Bulk id.ID `json:"bulk"`
}

// Kind is asked for in the transaction that writes a change down. Each step is a transaction of its own that holds the
// change's row, so that a run may be killed, or go on twice. Its attempts outlast a Postgres that is away for long.
var Kind = queue.Define[Args]("contact.bulk", queue.Options{
	Lane: queue.Bulk, MaxAttempts: 50, Timeout: time.Minute,
	Backoff: func(int) time.Duration { return queue.Jitter(2*time.Second, 0.2) },
})

// Pace is how quickly changes go.
type Pace struct {
	Visit time.Duration // for which a run keeps its slot before others have their turn
	Rest  float64       // between two steps, in parts of the time that the step took: what is left to others
	Wait  time.Duration // until it looks again whether the change before it is over
}

// Usual leaves others a quarter of the time.
func Usual() Pace { return Pace{Visit: 10 * time.Second, Rest: 0.35, Wait: time.Second} }
