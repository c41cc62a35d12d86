// Package contactimport executes imports of contacts. jobs/contactimportundo executes their undos in the same steps.
//
// # Why Tx kinds
//
// A step is one block of the file. The block's contacts, their events, the import's progress and the job of the next
// step are one transaction, the run's own. A killed worker leaves all of it or nothing, so each row is processed once.
// Steps queue like other jobs, so an import of millions of rows does not block other jobs.
package contactimport

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the import.
type Args struct {
	Import id.ID `json:"import"`
}

// Kind is one step of an import. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("contact.import", queue.Options{Lane: queue.Bulk})
