// Package platformretention deletes expired data and creates upcoming partitions.
//
//	work.go        the run, and rules for all orgs alike
//	mail_rules.go  the contents of mails
//	days.go keep.go   the settings: days of all orgs, and of single plans
//	plans.go plan_rules.go   what plans keep for a shorter time than the longest
//
// A rule of all orgs finds rows by their age, and a day of events, deliveries or attempts is dropped as a whole. Both
// are at the longest time that any plan has. The rows of orgs with a shorter time are found by keys that begin with the
// org, for a thousand orgs by one statement, and deleted in transactions of at most 5,000 rows, so retention by plan
// needs no index of its own. The statement that deletes also reads which plan is in effect, so a run stores nothing
// about its progress.
package platformretention

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's and covers all data.
type Args struct{}

// Kind is enqueued by the timetable every hour. It is idempotent and works in small transactions, so it is no Tx kind.
var Kind = queue.Define[Args]("platform.retain",
	queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 30 * time.Minute, Alias: "platform.retention"})
