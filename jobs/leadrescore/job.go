// Package leadrescore scores all contacts of an org anew, after another model has come into use: some hundreds in a transaction, and
// the next step asked for with it.
package leadrescore

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args say with which version, and after which contact to go on. A run whose version is in use no more ends, since the change
// has asked for another walk.
type Args struct {
	Version string `json:"version"`
	After   id.ID  `json:"after"`
}

// Kind is one step; its effects are rows alone. The steps of a walk follow one another, hence no dedupe key.
var Kind = queue.Define[Args]("lead.rescore", queue.Options{Lane: queue.Bulk, Timeout: time.Minute})
