// Package overviewcount keeps the counts by day of the overview current; internal/overview describes them.
//
// No request adds this job, so that no writer pays for the counts. Each worker looks for orgs with new events (Watch),
// once a second or less often, and adds one job for each.
package overviewcount

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job counts everything that is new in its org.
type Args struct{}

// Kind is one count for one org. It only writes rows.
var Kind = queue.Define[Args]("overview.count", queue.Options{Lane: queue.Bulk, MaxAttempts: 5})

// Key is the dedupe key that limits an org to one open job.
const Key = "overview.count"
