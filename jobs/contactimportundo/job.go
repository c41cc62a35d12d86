// Package contactimportundo undoes imports of contacts, in steps like those of jobs/contactimport.
package contactimportundo

import (
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
)

// Args identifies the import.
type Args = contactimport.Args

// Kind is one step of an undo. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("contact.undo_import", queue.Options{Lane: queue.Bulk, Alias: "contact.import_undo"})
