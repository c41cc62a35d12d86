// Package trackingjudge decides which opens and clicks of emails are those of people. internal/tracking describes how.
//
// Each worker looks for orgs with hits whose time has come (Watch) and adds a job in a transaction of its own. A
// request that stores a hit adds none: it would have to wait for every other with the same dedupe key.
package trackingjudge

import "github.com/funnelwork/funnelwork/internal/queue"

// Args is empty: the job judges the hits of its org that are due.
type Args struct{}

// Kind is one run for one org. It only writes rows, so each hit is counted and announced exactly once.
var Kind = queue.Define[Args]("tracking.judge", queue.Options{Lane: queue.Default, MaxAttempts: 12})

// Key is the dedupe key that limits an org to one open job.
const Key = "tracking.judge"
