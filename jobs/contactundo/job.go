// Package contactundo defines the job that undoes an import of contacts. jobs/contactimport executes it, in steps like
// an import.
package contactundo

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the import.
type Args struct {
	Import id.ID `json:"import"`
}

// Kind is one step of an undo. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("contact.undo_import", queue.Options{Lane: queue.Bulk})
