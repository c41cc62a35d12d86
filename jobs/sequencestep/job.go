// Package sequencestep executes the steps of enrolments that are due.
//
// No request enqueues the job: each worker looks for orgs with groups that are due (Watch) and adds one job per org, in
// a transaction of its own and with a concurrency key of its own, so that an org with many due steps delays no other.
// What a run leaves is due at once, and found by the next look.
package sequencestep

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job looks at all groups of its org that are due.
type Args struct{}

// Kind is one tick of one org. It only writes rows: the emails have jobs of their own.
var Kind = queue.Define[Args]("sequence.step", queue.Options{Lane: queue.Default, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "sequence.step"
