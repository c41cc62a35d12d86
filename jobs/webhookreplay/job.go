// Package webhookreplay sends a range of events to one endpoint once more, a few at a time.
//
// # Why it is slow
//
// A replay may be millions of deliveries to an endpoint that has just come back. They stand in the endpoint's line
// like live ones; but a replay leaves at most five of its deliveries untried, half of the line's slots, and an
// endpoint has one replay at a time. So what happens now finds a free slot now, whatever is being made up for. Each
// step tops the five up and asks for the next step.
//
// # Why a Tx kind
//
// A run's deliveries, how far the walk has come and the job of the next run are one transaction, the run's own. A
// killed worker leaves all of it or nothing: each event is sent once.
package webhookreplay

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the replay.
type Args struct {
	Replay id.ID `json:"replay"`
}

// Kind is one step of a replay. Steps are asked for one after the other, hence no dedupe key.
var Kind = queue.Define[Args]("webhook.replay", queue.Options{Lane: queue.Bulk})

// Pace is how quickly replays go.
type Pace struct {
	Every time.Duration // from step to step, at least
	Full  time.Duration // and after a step that found no room
	Open  int           // deliveries of an endpoint's replays that wait for their first try
}

// Usual is up to some 50 deliveries a second while the endpoint is quick, and five at a time while it is slow.
func Usual() Pace { return Pace{Every: 50 * time.Millisecond, Full: 250 * time.Millisecond, Open: 5} }
