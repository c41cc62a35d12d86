// Package sequencecount counts the enrolments and emails of sequences and broadcasts for the first time.
// internal/sequences/counts describes what keeps the counts from then on.
//
// No request enqueues the job: each worker looks for orgs with sources that are not counted (Watch), which new ones are
// for a moment, and adds one job per org. A first count reads the whole history of a sequence, so it is no part of the
// folding of the counts, which must not wait for it.
package sequencecount

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job counts sources of its org.
type Args struct{}

// Kind is one run for one org. It only writes rows.
var Kind = queue.Define[Args]("sequence.count", queue.Options{Lane: queue.Bulk, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "sequence.count"
