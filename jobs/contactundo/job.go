// Package contactundo asks for the undoing of an import of contacts; jobs/contactimport does it, by the steps that imports have.
package contactundo

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the import.
type Args struct {
	Import id.ID `json:"import"`
}

// Kind is one step. Steps are asked for one after the other, hence no dedupe key.
var Kind = queue.Define[Args]("contact.undo_import", queue.Options{Lane: queue.Bulk})
