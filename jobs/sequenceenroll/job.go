// Package sequenceenroll enrols the contacts of a segment or a filter in a sequence.
//
// A step enrols some thousand contacts. Their enrolments, results and events, the batch's position and the job of the
// next step are one transaction, the run's own, so a killed worker leaves all of a step or nothing.
package sequenceenroll

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the batch.
type Args struct {
	Batch id.ID `json:"batch"`
}

// Kind is one step of a batch. Each step enqueues the next, so there is no dedupe key.
var Kind = queue.Define[Args]("sequence.enroll", queue.Options{Lane: queue.Bulk})
