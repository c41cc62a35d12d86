// Package adaccountsdaily enqueues the daily work for logins at ad platforms.
package adaccountsdaily

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's.
type Args struct{}

// Kind adds a sync (jobs/adaccountssync) for every login at an ad platform, spread over several hours, and enqueues
// warnings about logins that will end.
var Kind = queue.Define[Args]("adaccounts.daily", queue.Options{Lane: queue.Bulk, Timeout: 10 * time.Minute})
