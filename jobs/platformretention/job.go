// Package platformretention deletes expired data and creates upcoming partitions.
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
