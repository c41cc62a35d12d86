// Package domainsweep claims the custom domains whose DNS records are due for a check, and adds the jobs of
// jobs/domainverify.
package domainsweep

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: a sweep is a platform job and covers all orgs.
type Args struct{}

// Kind is enqueued by the timetable. A missed sweep does no harm: the next one finds the same domains.
var Kind = queue.Define[Args]("domain.sweep", queue.Options{MaxAttempts: 2, Timeout: 30 * time.Second})
