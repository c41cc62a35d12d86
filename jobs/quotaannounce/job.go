// Package quotaannounce tells an org that 80 or 100 percent of a limit are in use. The crossing itself is seen where
// the rows are counted, in the database, which asks for this job in the same transaction.
package quotaannounce

import (
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are the crossing, as quota_count of migrations/0014_plans.sql writes it.
type Args = events.Quota

// Kind is asked for in SQL, by these names. Its effects are rows alone: each crossing is told exactly once.
var Kind = queue.Define[Args]("quota.announce", queue.Options{Lane: queue.Default, MaxAttempts: 8})
