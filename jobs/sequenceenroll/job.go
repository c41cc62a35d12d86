// Package sequenceenroll enrols the contacts of a segment or a filter in a sequence.
//
// A step enrols a thousand contacts. Their enrolments, results and events and the batch's position are one
// transaction, so a killed worker leaves all of a step or nothing, and the next run goes on behind it.
package sequenceenroll

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the batch.
type Args struct {
	Batch id.ID `json:"batch"`
}

// Kind is enqueued in the transaction that stores a batch. Each step locks the batch's row, so a run may be killed or
// run twice. The attempts outlast a long outage of Postgres.
var Kind = queue.Define[Args]("sequence.enroll", queue.Options{
	Lane: queue.Bulk, MaxAttempts: 50, Timeout: time.Minute,
	Backoff: func(int) time.Duration { return queue.Jitter(2*time.Second, 0.2) },
})

// Pace is the speed of batches.
type Pace struct {
	Visit time.Duration // how long a run keeps its slot
	Step  time.Duration // from the beginning of a step to that of the next, at least
}

// Usual returns the default pace: at most 7,400 contacts per second, so that 100,000 take 13.5 s of the 15 s that they
// may take, and the rest of the time is left to other work.
func Usual() Pace { return Pace{Visit: 15 * time.Second, Step: 135 * time.Millisecond} }
