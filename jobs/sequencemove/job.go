// Package sequencemove moves the enrolments of a sequence to another version.
//
// A step moves some hundred enrolments. Their changes, the position of the move and the job of the next step are one
// transaction, the run's own, so a killed worker leaves all of a step or nothing.
package sequencemove

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the move.
type Args struct {
	Move id.ID `json:"move"`
}

// Kind is one step of a move. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("sequence.move", queue.Options{Lane: queue.Bulk})
