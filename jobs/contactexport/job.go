// Package contactexport writes the files of exports, one part at a time.
package contactexport

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the export.
type Args struct {
	Export id.ID `json:"export"`
}

// Kind is one step of an export. A part of the file, the progress and the job of the next step are one transaction.
var Kind = queue.Define[Args]("contact.export", queue.Options{Lane: queue.Bulk})
