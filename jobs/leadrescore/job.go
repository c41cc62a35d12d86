// Package leadrescore rescores all contacts of an org after its model has changed. Each step is one transaction, which
// also enqueues the next step.
package leadrescore

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is the model version and the contact after which to continue. A run ends if its version is no longer in use,
// because the change of version has enqueued another pass.
type Args struct {
	Version string `json:"version"`
	After   id.ID  `json:"after"`
}

// Kind is one step. It only writes rows. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("lead.rescore", queue.Options{Lane: queue.Bulk, Timeout: time.Minute})
