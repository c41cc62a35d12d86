// Package sequencecompare stops the variants of steps that lose. internal/sequences/comparisons describes when.
//
// No request enqueues the job: each worker looks for orgs with comparisons that are due (Watch) and adds one job per
// org. It is not part of the tick (sequencestep), since it counts all mails of a step, which no due step should wait
// for.
package sequencecompare

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job compares everything of its org that is due.
type Args struct{}

// Kind is one check of one org. It only writes rows.
var Kind = queue.Define[Args]("sequence.compare", queue.Options{Lane: queue.Bulk, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "sequence.compare"
