// Package webhookreplay sends a range of events to one endpoint again, a few at a time.
//
// # Why it is slow
//
// A replay may be millions of deliveries to an endpoint that has just recovered. They use the endpoint's concurrency
// key like live deliveries. But a replay keeps at most five deliveries without a first attempt, half of the key's
// slots, and an endpoint has one replay at a time. A live event therefore always finds a free slot. Each step tops the
// five up and enqueues the next step.
//
// # Why a Tx kind
//
// A run's deliveries, the replay's progress and the job of the next run are one transaction, the run's own. A killed
// worker leaves all of it or nothing, so each event is sent once.
package webhookreplay

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the replay.
type Args struct {
	Replay id.ID `json:"replay"`
}

// Kind is one step of a replay. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("webhook.replay", queue.Options{Lane: queue.Bulk})

// Pace is the speed of replays.
type Pace struct {
	Every time.Duration // minimum interval between steps
	Full  time.Duration // interval after a step that found no free place
	Open  int           // most deliveries per endpoint without a first attempt
}

// Usual returns the default pace: about 50 deliveries a second for a fast endpoint, and five at a time for a slow one.
func Usual() Pace { return Pace{Every: 50 * time.Millisecond, Full: 250 * time.Millisecond, Open: 5} }
