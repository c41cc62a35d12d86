// Package retention throws away what has had its time, and makes room for what comes.
package retention

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none: the job is the platform's own and looks at everything.
type Args struct{}

// Kind is asked for each hour by the timetable. It is idempotent and in small transactions, hence no Tx kind.
var Kind = queue.Define[Args]("platform.retain", queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 30 * time.Minute})
