// Package quotaannounce announces that an org uses 80 or 100 percent of a limit. The database detects the crossing
// where it counts the rows, and adds this job in the same transaction.
package quotaannounce

import (
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is the crossing, as quota_count in migrations/0014_plans.sql writes it.
type Args = events.Quota

// Kind is enqueued in SQL under this name. It only writes rows, so each crossing is announced exactly once.
var Kind = queue.Define[Args]("quota.announce", queue.Options{Lane: queue.Default, MaxAttempts: 8})
