// Package broadcastprepare freezes the audience of a broadcast and writes its emails.
//
// A step reads some thousand contacts or writes some dozen emails. Its rows, the broadcast's position and the job of
// the next step are one transaction, the run's own, so a killed worker leaves all of a step or nothing.
package broadcastprepare

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a run of a broadcast. A job of an earlier run does nothing.
type Args struct {
	Broadcast id.ID `json:"broadcast"`
	Run       int   `json:"run"`
	Idle      int   `json:"idle,omitempty"` // steps before that found nothing to do
}

// Kind is one step of a broadcast. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("broadcast.prepare", queue.Options{Lane: queue.Bulk, MaxAttempts: 20})
