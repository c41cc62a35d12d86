// Package contactimport works off imports of contacts, and takes them back.
//
// # Why Tx kinds
//
// A step is one block of the file: its contacts, their events, how far the import has come and the job of the next step
// are one transaction, the run's own. A killed worker leaves all of it or nothing, so that each row is worked once; and
// because steps stand in line like other jobs, an import of millions leaves every other job its turn.
package contactimport

import (
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/contactundo"
)

// Args name the import, as those of its undoing do.
type Args = contactundo.Args

// Kind is one step of an import. Steps are asked for one after the other, hence no dedupe key.
var Kind = queue.Define[Args]("contact.import", queue.Options{Lane: queue.Bulk})
