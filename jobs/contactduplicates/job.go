// Package contactduplicates searches an org's contacts for possible duplicates of the same person.
package contactduplicates

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the org is the job's.
type Args struct{}

// Kind reads outside of any writing transaction, which would delay others for the seconds that it takes, and writes its
// findings in the transaction that ends the job.
var Kind = queue.Define[Args]("contact.duplicates",
	queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 3 * time.Minute})

// Ask returns the options for enqueueing a search. A waiting search makes another one unnecessary.
func (Args) Ask() queue.Adding { return queue.Dedupe("contact.duplicates") }
