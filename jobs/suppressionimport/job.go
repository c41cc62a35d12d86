// Package suppressionimport executes imports of suppressions.
package suppressionimport

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the import.
type Args struct {
	Import id.ID `json:"import"`
}

// Kind is one step of an import. The block's suppressions, the progress and the job of the next step are one
// transaction, so a killed worker leaves all of it or nothing. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("suppression.import", queue.Options{Lane: queue.Bulk})
