// Package prorationsync compares what we hold of the payment processor with what it holds, and mends what differs: by
// its list of events, for those that never came, and by reading every subscription.
package prorationsync

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args say how much is compared.
type Args struct {
	Whole bool `json:"whole"` // every subscription; else missed events and periods that are over
}

// Kind is the platform's own, asked for by the timetable. One that was cut short goes on where it was.
var Kind = queue.Define[Args]("billing.sync", queue.Options{MaxAttempts: 5, Timeout: 2 * time.Hour})
