// Package tokensweep claims the logins with tokens that are due for a refresh, and adds the jobs of jobs/tokenrefresh.
package tokensweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: a sweep is a platform job and covers all orgs.
type Args struct{}

// Kind is enqueued by the timetable. A missed sweep does no harm: the next one finds the same grants.
var Kind = queue.Define[Args]("token.sweep",
	queue.Options{Lane: queue.Critical, MaxAttempts: 2, Timeout: 30 * time.Second})
