// Package contactindexsweep finds the orgs with a word index that is due, or without one that they need.
// jobs/contactindex describes when.
package contactindexsweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args selects the sweep.
type Args struct {
	Orgs bool `json:"orgs,omitempty"` // also count the contacts of orgs without an index, and fill columns
}

// Kind is one sweep over all orgs. The timetable adds it.
var Kind = queue.Define[Args]("contact.index_sweep",
	queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 5 * time.Minute})
